/** eth_call at one exact block: by its hash (EIP-1898), or by its number and a proof of its hash where a node refuses that. */
import { type Address, type BlockRef } from '#libs/domain';
import {
  ExecutionRevertedError,
  MalformedAnswerError,
  NodeBehindError,
  RpcRefusedError,
  StateUnavailableError,
} from '../errors/rpc.errors.js';
import { headerCall } from '../logs/range-reader.js';
import { valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import { parseHeaderOf } from '../shape/header.js';
import { bytes, toQuantity } from '../shape/hex.js';

export interface ContractCall {
  readonly to: Address;
  /** Selector and arguments, hex. */
  readonly data: string;
}

/** The same calls at a block by its hash or number. */
type Question = (block: unknown) => readonly RpcCall[];

export const CALLS_AT_ONCE = 100;
const WORD = /^0x[0-9a-fA-F]{64}$/;

export function ethCall({ to, data }: ContractCall, block: unknown): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, block] };
}

export class PinnedCalls {
  /** Endpoints that do not take a block hash. */
  private readonly byNumber = new Set<string>();

  /**
   * @returns one unsigned integer for each call; 0 where there was no contract yet at that block. An empty answer of one that was
   * there is no figure: the endpoint has not its state, or the function came later
   * @throws ExecutionRevertedError, NodeBehindError, StateUnavailableError, MalformedAnswerError
   */
  async read(
    session: RpcSession,
    calls: readonly ContractCall[],
    block: BlockRef,
  ): Promise<bigint[]> {
    const values: bigint[] = [];
    for (let at = 0; at < calls.length; at += CALLS_AT_ONCE) {
      const some = calls.slice(at, at + CALLS_AT_ONCE);
      const ask: Question = (when) => some.map((call) => ethCall(call, when));
      const answers = (await this.results(session, ask, block)).map((one) => bytes(valueOf(one)));
      const silent = some.filter((_, index) => answers[index] === '0x').map(({ to }) => to);
      if (silent.length > 0) await this.requireAbsent(session, new Set(silent), block);
      for (const answer of answers) values.push(uintOf(answer, session.endpoint));
    }
    return values;
  }

  private async requireAbsent(
    session: RpcSession,
    contracts: ReadonlySet<Address>,
    block: BlockRef,
  ): Promise<void> {
    const ask: Question = (when) =>
      [...contracts].map((address) => ({ method: 'eth_getCode', params: [address, when] }));
    const codes = await this.results(session, ask, block);
    if (codes.every((code) => bytes(valueOf(code)) === '0x')) return;
    throw new StateUnavailableError(
      `answered nothing for a contract that is there at block ${block.number.toString()}`,
      session,
    );
  }

  private async results(
    session: RpcSession,
    ask: Question,
    block: BlockRef,
  ): Promise<readonly RpcResult[]> {
    const { endpoint } = session;
    if (!this.byNumber.has(endpoint)) {
      const { results } = await session.batch(ask({ blockHash: block.hash }));
      if (!results.some(refusesHash)) return results;
      this.byNumber.add(endpoint);
    }
    const number = toQuantity(block.number);
    const { results } = await session.batch([headerCall(block.number), ...ask(number)]);
    const header = parseHeaderOf(valueOf(results[0]), block.number, endpoint);
    if (header?.hash !== block.hash) {
      throw new NodeBehindError(`does not have block ${block.hash}`, { endpoint });
    }
    return results.slice(1);
  }
}

/** A result of exactly one word, or undefined where the function is not there. @throws other errors of the call */
export function wordOf(result: RpcResult | undefined): bigint | undefined {
  if (result && !result.ok && result.error instanceof ExecutionRevertedError) return undefined;
  const value = valueOf(result);
  return typeof value === 'string' && WORD.test(value) ? BigInt(value) : undefined;
}

function refusesHash(result: RpcResult): boolean {
  return (
    !result.ok &&
    result.error instanceof RpcRefusedError &&
    (result.error.rpcCode === -32602 ||
      /unmarshal|invalid argument|blockhash|hex string/i.test(result.error.message))
  );
}

function uintOf(value: string | undefined, endpoint: string): bigint {
  if (value === '0x') return 0n;
  if (value === undefined || !WORD.test(value)) {
    throw new MalformedAnswerError('an eth_call answered with something else than one word', {
      endpoint,
    });
  }
  return BigInt(value);
}
