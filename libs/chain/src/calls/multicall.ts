/**
 * Makes many calls in one eth_call, by aggregate3 of Multicall3 (https://github.com/mds1/multicall3), where Multicall3
 * is deployed at the block. Otherwise, and where an endpoint refuses calls of this size, sends the calls in batches.
 */
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem/utils';
import { type Address, type BlockRef } from '#libs/domain';
import { TtlCache } from '#libs/platform';
import {
  ExecutionRevertedError,
  RangeTooLargeError,
  RpcError,
  RpcRefusedError,
  RpcTimeoutError,
} from '../rpc/rpc.errors.js';
import { type RpcSession } from '../rpc/question.js';
import {
  type ContractCall,
  ethCall,
  hexOf,
  type PinnedCalls,
  type Question,
} from './pinned-calls.js';
import { type Hex } from '../rpc/hex.js';

export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11' as Address;

/** Addresses by chain id. ZK Stack chains derive addresses in another way; these are from viem's chain definitions. */
const ELSEWHERE: Readonly<Record<number, Address>> = {
  2741: '0xaa4de41dba0ca5dcbb288b7cc6b708f3aac759e7' as Address,
  11124: '0xf9cda624fbc7e059355ce98a31693d299facd963' as Address,
  324: '0xf9cda624fbc7e059355ce98a31693d299facd963' as Address,
  300: '0xf9cda624fbc7e059355ce98a31693d299facd963' as Address,
};

/**
 * Calls in one aggregate3: some 130 kB of calldata. With 10,000 gas for each call, that is a tenth of the 50 million
 * gas that geth allows an eth_call by default (--rpc.gascap).
 */
export const MULTICALL_SIZE = 500;
/** Smallest aggregate; a smaller one saves little against a batch. */
const SMALLEST = 50;
/** Fewer calls are sent as a batch, because they would not pay for the check whether there is a Multicall3. */
const FEWEST = 10;
/** How long a size that an endpoint refused is not sent to that endpoint again. */
const LOOK_AGAIN_MS = 600_000;

const ABI = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
]);

/** The address of Multicall3 on a chain, if it is deployed there at all. */
export function multicallOf(chainId: number): Address {
  return ELSEWHERE[chainId] ?? MULTICALL3;
}

export class Multicall {
  /** A block at which Multicall3 was seen, so later blocks have it too. */
  private presentFrom: bigint | undefined;
  /** A block at which Multicall3 was missing, so earlier blocks lack it too. */
  private absentUntil = -1n;
  /** The sizes that endpoints accept; absent: the full size. */
  private readonly limits: TtlCache<string, number>;

  constructor(
    private readonly pinned: PinnedCalls,
    private readonly address: Address,
    clock: { nowMs(): number },
  ) {
    this.limits = new TtlCache({ clock, ttlMs: LOOK_AGAIN_MS });
  }

  /** Gives the same answers and errors as PinnedCalls.data. */
  async data(session: RpcSession, calls: readonly ContractCall[], block: BlockRef): Promise<Hex[]> {
    const { pinned } = this;
    if (calls.length < FEWEST || !(await this.isThere(session, block))) {
      return pinned.data(session, calls, block);
    }
    const answers: Hex[] = [];
    while (answers.length < calls.length) {
      const size = this.sizeFor(session.endpoint);
      const some = calls.slice(answers.length, size === 0 ? undefined : answers.length + size);
      const part =
        size === 0
          ? await pinned.data(session, some, block)
          : await this.aggregate(session, some, block);
      if (part === undefined) this.shrink(session.endpoint, some.length);
      else for (const answer of part) answers.push(answer);
    }
    return answers;
  }

  private async isThere(session: RpcSession, block: BlockRef): Promise<boolean> {
    if (this.presentFrom !== undefined && block.number >= this.presentFrom) return true;
    if (block.number <= this.absentUntil) return false;
    const codeAt: Question = (when) => [{ method: 'eth_getCode', params: [this.address, when] }];
    const [code] = await this.pinned.ask(session, codeAt, block);
    const isThere = hexOf(code, session) !== '0x';
    if (isThere) this.presentFrom = block.number;
    else this.absentUntil = block.number;
    return isThere;
  }

  /** @returns undefined where the endpoint refuses a call of this size */
  private async aggregate(
    session: RpcSession,
    calls: readonly ContractCall[],
    block: BlockRef,
  ): Promise<Hex[] | undefined> {
    const { address: to, pinned } = this;
    const data = calldataOf(calls);
    let results: ReturnType<typeof resultsIn>;
    try {
      const [answer] = await pinned.ask(session, (when) => [ethCall({ to, data }, when)], block);
      results = resultsIn(hexOf(answer, session), calls.length);
    } catch (error) {
      if (isRefusal(error)) return undefined;
      // Either the call was too large or the endpoint is dead. The pool asks other endpoints first, and this one gets a
      // smaller call the next time.
      if (error instanceof RpcTimeoutError) this.shrink(session.endpoint, calls.length);
      throw error;
    }
    if (results === undefined) return undefined;
    const silent = calls.flatMap((call, index) => {
      const result = results[index];
      return result?.success === true && result.returnData === '0x' ? [call.to] : [];
    });
    await pinned.requireAbsent(session, new Set(silent), block);
    // A call that failed in an aggregate may have run out of the gas that all calls share. Sent by itself, it answers,
    // or fails with a reason.
    const failed = calls.filter((_, index) => results[index]?.success === false);
    if (failed.length === 0) return results.map(({ returnData }) => returnData);
    const again = await pinned.data(session, failed, block);
    this.shrink(session.endpoint, calls.length);
    const alone = again.values();
    return results.map(({ success, returnData }) =>
      success ? returnData : (alone.next().value ?? '0x'),
    );
  }

  /** 0: batches. */
  private sizeFor(endpoint: string): number {
    return this.limits.get(endpoint) ?? MULTICALL_SIZE;
  }

  private shrink(endpoint: string, refused: number): void {
    const half = Math.floor(Math.min(refused, this.sizeFor(endpoint)) / 2);
    this.limits.set(endpoint, half < SMALLEST ? 0 : half);
  }
}

function calldataOf(calls: readonly ContractCall[]): Hex {
  const args = calls.map(({ to, data }) => ({
    target: to as Hex,
    allowFailure: true,
    callData: data as Hex,
  }));
  return encodeFunctionData({ abi: ABI, functionName: 'aggregate3', args: [args] });
}

/** Undefined where the answer is not that of aggregate3 to `count` calls. */
function resultsIn(
  data: Hex,
  count: number,
): readonly { readonly success: boolean; readonly returnData: Hex }[] | undefined {
  try {
    const results = decodeFunctionResult({ abi: ABI, functionName: 'aggregate3', data });
    return results.length === count ? results : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a smaller call may succeed: out of gas, too long or too large. A rate limit or a missing state is no such
 * error.
 */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof ExecutionRevertedError ||
    error instanceof RpcRefusedError ||
    error instanceof RangeTooLargeError ||
    (error instanceof RpcError && error.sizeMayExplain && !(error instanceof RpcTimeoutError))
  );
}
