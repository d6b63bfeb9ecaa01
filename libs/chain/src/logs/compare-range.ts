/**
 * Reads a range from another node, to compare it: its logs, their times, the block at its end, and the figures that the
 * same request can read.
 */
import { type BlockDeltas, type BlockHeader } from '#libs/domain';
import { AnswersDifferError, MalformedAnswerError, NodeBehindError } from '../errors/rpc.errors.js';
import { type TotalCalls } from '../reader/stake-views.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import {
  fetchHeaders,
  type FullHeader,
  headerCall,
  parseHeader,
  readHeaders,
  requireNotAhead,
  tagCall,
} from '../shape/header.js';
import { toQuantity } from '../shape/hex.js';
import { providerOf } from '../rpc/endpoint-urls.js';
import { type BlockLogs, type ReadRange } from './range-logs.js';
import { type RangeReader } from './range-reader.js';

export interface ComparisonQuestion {
  /** Also read: the contracts' total at the end of the range. */
  readonly total?: TotalCalls | undefined;
  /** Also read: the newest block that is final by this tag. */
  readonly tag?: 'finalized' | 'safe' | undefined;
  /** The latest time of a block that is believed, Unix seconds. */
  readonly latestSeconds?: number | undefined;
}

/** The statement of another node about a range, with the same block at its end. */
export interface Comparison {
  readonly endpoint: string;
  /** Blocks whose effects or times differ, ascending. */
  readonly differing: readonly bigint[];
  /** Undefined where it was not asked for, or not answered. */
  readonly total: bigint | undefined;
  readonly finalised: BlockHeader | undefined;
}

/**
 * Makes one request, and another one for headers where logs have no times and the answer does not prove them, or have
 * other times than the answer.
 * @throws NodeBehindError where the node has another block at the end of the range, or none yet; AnswersDifferError
 * where it dates that block otherwise
 */
export async function compareRange(
  session: RpcSession,
  answer: ReadRange,
  reader: RangeReader,
  { total, tag, latestSeconds }: ComparisonQuestion,
): Promise<Comparison> {
  const { logs, others } = await reader.ask(session, answer, [
    headerCall(answer.to),
    ...(tag === undefined ? [] : [tagCall(tag)]),
    ...(total?.at(toQuantity(answer.to)) ?? []),
  ]);
  const [last, final] = others;
  const headers = readHeaders([answer.to], last ? [last] : [], session);
  for (const header of headers) {
    requireNotAhead(header, latestSeconds, session);
    requireSame(header, answer, session);
  }
  const { blocks } = reader.read(logs, { session, range: answer, headers });
  adoptTimes(session, answer, blocks);
  forgetOtherTimes(answer, blocks);
  await readTimes(session, blocks);
  return {
    endpoint: session.endpoint,
    differing: differingBlocks(answer.blocks, blocks),
    total: total?.sumOf(others.slice(tag === undefined ? 1 : 2)),
    finalised: tag && parseHeader(valueOf(final), session),
  };
}

function requireSame(
  header: FullHeader,
  { head, endpoint: first }: ReadRange,
  session: RpcSession,
): void {
  const block = `block ${header.number.toString()}`;
  if (header.hash !== head.hash) {
    throw new NodeBehindError(`has ${block} as ${header.hash}, ${first} as ${head.hash}`, session);
  }
  if (header.timestampSeconds !== head.timestampSeconds) {
    const what = `dates ${block} ${header.timestampSeconds} (Unix seconds), ${first} dates it ${head.timestampSeconds}`;
    throw new AnswersDifferError(what, session);
  }
}

/**
 * Completes the times of blocks. Many nodes put the time into each log. Otherwise the time in the answer counts, where
 * the block's header proves it, or where the answer is from the same provider.
 */
function adoptTimes(
  { endpoint }: RpcSession,
  answer: ReadRange,
  blocks: readonly BlockLogs[],
): void {
  if (!answer.isProven && providerOf(answer.endpoint) !== providerOf(endpoint)) return;
  const known = new Map(answer.headers.map((header) => [Number(header.number), header]));
  for (const block of blocks) {
    const header = known.get(block.number);
    if (header?.hash === block.hash) block.timestampSeconds ??= header.timestampSeconds;
  }
}

/** Forgets the times of logs that contradict the answer: they are hints, and the header decides. */
function forgetOtherTimes(answer: ReadRange, blocks: readonly BlockLogs[]): void {
  const known = new Map(
    answer.blocks.map(({ blockNumber, timestampSeconds }) => [
      Number(blockNumber),
      timestampSeconds,
    ]),
  );
  for (const block of blocks) {
    const told = known.get(block.number);
    if (told !== undefined && told !== block.timestampSeconds) block.timestampSeconds = undefined;
  }
}

/** Reads the headers of this node for the blocks that still have no time. */
async function readTimes(session: RpcSession, blocks: readonly BlockLogs[]): Promise<void> {
  const untimed = blocks.filter(({ timestampSeconds }) => timestampSeconds === undefined);
  if (untimed.length === 0) return;
  const numbers = untimed.map(({ number }) => BigInt(number));
  const { headers } = await fetchHeaders(session, numbers);
  for (const [index, block] of untimed.entries()) {
    const header = headers[index];
    if (header?.hash !== block.hash) {
      const what = `the logs of block ${block.number} are from another fork than its header`;
      throw new MalformedAnswerError(what, session);
    }
    block.timestampSeconds = header.timestampSeconds;
  }
}

/**
 * The blocks whose effects or times differ between two answers about the same blocks of one chain.
 * @returns ascending
 */
function differingBlocks(answer: readonly BlockDeltas[], other: readonly BlockLogs[]): bigint[] {
  const effects = new Map<bigint, BlockDeltas>();
  for (const block of answer) effects.set(block.blockNumber, block);
  const differing: bigint[] = [];
  for (const { number, deltas, timestampSeconds } of other) {
    const mine = effects.get(BigInt(number));
    effects.delete(BigInt(number));
    const isOtherTime = mine !== undefined && mine.timestampSeconds !== timestampSeconds;
    if (isOtherTime || !isSame(mine?.deltas ?? [], deltas)) differing.push(BigInt(number));
  }
  // Blocks that the other answer lacks.
  for (const [number, { deltas }] of effects) if (deltas.length > 0) differing.push(number);
  return differing.sort((a, b) => (a < b ? -1 : 1));
}

function isSame(one: BlockDeltas['deltas'], other: BlockDeltas['deltas']): boolean {
  if (one.length !== other.length) return false;
  const isInOrder = one.every(({ wallet, amount }, index) => {
    const delta = other[index];
    return delta?.wallet === wallet && delta.amount === amount;
  });
  // Nodes number the logs of a block in their own ways, and their order changes no balance at its end.
  return isInOrder || sortedText(one) === sortedText(other);
}

function sortedText(deltas: BlockDeltas['deltas']): string {
  return deltas
    .map(({ wallet, amount }) => `${wallet} ${amount}`)
    .sort()
    .join();
}
