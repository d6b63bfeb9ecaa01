/**
 * eth_call at one exact block: by the block's hash (EIP-1898), or, where a node refuses that, by its number together
 * with a proof of the hash.
 */
import { type Address, type BlockRef } from '#libs/domain';
import {
  MalformedAnswerError,
  NodeBehindError,
  RpcRefusedError,
  StateUnavailableError,
} from '../rpc/rpc.errors.js';
import {
  type AtEndpoint,
  isReverted,
  type RpcCall,
  type RpcResult,
  valueOf,
} from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { headerCall, parseHeaderOf } from '../blocks/header.js';
import { bytes, type Hex, toQuantity } from '../rpc/hex.js';

export interface ContractCall {
  readonly to: Address;
  /** Selector and arguments, hex. */
  readonly data: string;
}

/** The same calls at any block, given by hash or by number. */
export type Question = (block: unknown) => readonly RpcCall[];

export const CALLS_AT_ONCE = 100;

export function ethCall({ to, data }: ContractCall, block: unknown): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, block] };
}

export class PinnedCalls {
  /** Endpoints that do not accept a block hash. */
  private readonly byNumber = new Set<string>();

  /**
   * @returns one unsigned integer for each call; 0 where the contract did not exist yet at that block
   * @throws as `data`
   */
  async read(
    session: RpcSession,
    calls: readonly ContractCall[],
    block: BlockRef,
  ): Promise<bigint[]> {
    const answers = await this.data(session, calls, block);
    return answers.map((answer) => uintOf(answer, session));
  }

  /**
   * @returns the answer to each call; `0x` where the contract did not exist yet at that block. An empty answer of an
   * existing contract is refused, because the endpoint lacks its state or the function was added later
   * @throws ExecutionRevertedError, NodeBehindError, StateUnavailableError, MalformedAnswerError
   */
  async data(session: RpcSession, calls: readonly ContractCall[], block: BlockRef): Promise<Hex[]> {
    const answers: Hex[] = [];
    for (let at = 0; at < calls.length; at += CALLS_AT_ONCE) {
      const some = calls.slice(at, at + CALLS_AT_ONCE);
      const ask: Question = (when) => some.map((call) => ethCall(call, when));
      const results = await this.ask(session, ask, block);
      const part = results.map((result) => hexOf(result, session));
      const silent = some.filter((_, index) => part[index] === '0x');
      await this.requireAbsent(session, new Set(silent.map(({ to }) => to)), block);
      answers.push(...part);
    }
    return answers;
  }

  /**
   * Proves that no contract existed at these addresses.
   * @throws StateUnavailableError where one existed
   */
  async requireAbsent(
    session: RpcSession,
    contracts: ReadonlySet<Address>,
    block: BlockRef,
  ): Promise<void> {
    if (contracts.size === 0) return;
    const ask: Question = (when) =>
      [...contracts].map((address) => ({ method: 'eth_getCode', params: [address, when] }));
    const codes = await this.ask(session, ask, block);
    const there = [...contracts].find((_, index) => bytes(valueOf(codes[index])) !== '0x');
    if (there === undefined) return;
    throw new StateUnavailableError(
      `answered nothing for the contract ${there}, which is there at block ${block.number.toString()}`,
      session,
    );
  }

  /** The results of the same calls at exactly this block. @throws NodeBehindError */
  async ask(session: RpcSession, ask: Question, block: BlockRef): Promise<readonly RpcResult[]> {
    const { endpoint } = session;
    let refused: readonly RpcResult[] | undefined;
    if (!this.byNumber.has(endpoint)) {
      const { results } = await session.batch(ask({ blockHash: block.hash }));
      if (!results.some(mayRefuseHash)) return results;
      refused = results;
    }
    const number = toQuantity(block.number);
    const { results } = await session.batch([headerCall(block.number), ...ask(number)]);
    const header = parseHeaderOf(valueOf(results[0]), block.number, session);
    if (header?.hash !== block.hash) {
      throw new NodeBehindError(`does not have block ${block.hash}`, session);
    }
    const byNumber = results.slice(1);
    if (refused && !byNumber.some(mayRefuseHash)) this.byNumber.add(endpoint);
    return byNumber;
  }
}

/** @returns undefined where the contract reverts. @throws other errors of the call, MalformedAnswerError */
export function bytesUnlessReverted(
  result: RpcResult | undefined,
  session: AtEndpoint,
): Hex | undefined {
  return isReverted(result) ? undefined : hexOf(result, session);
}

/** Undefined where the bytes are not exactly one word. */
export function wordIn(data: Hex | undefined): bigint | undefined {
  return data?.length === 66 ? BigInt(data) : undefined;
}

/**
 * A result of exactly one word; undefined otherwise, as where the function does not exist. @throws as
 * `bytesUnlessReverted`
 */
export function wordOf(result: RpcResult | undefined, session: AtEndpoint): bigint | undefined {
  return wordIn(bytesUnlessReverted(result, session));
}

/** Whether the node may not accept a block's hash, which nodes say in many ways, or by null. */
function mayRefuseHash(result: RpcResult): boolean {
  if (result.ok) return result.value === null;
  const { error } = result;
  return error instanceof RpcRefusedError || error instanceof NodeBehindError;
}

/** @throws the error of the call, or MalformedAnswerError */
export function hexOf(result: RpcResult | undefined, session: AtEndpoint): Hex {
  const data = bytes(valueOf(result));
  if (data !== undefined) return data;
  const what = 'a call of a contract answered with something else than bytes';
  throw new MalformedAnswerError(what, session);
}

function uintOf(value: Hex, session: RpcSession): bigint {
  if (value === '0x') return 0n;
  const word = wordIn(value);
  if (word !== undefined) return word;
  const what = 'an eth_call answered with something else than one word';
  throw new MalformedAnswerError(what, session);
}
