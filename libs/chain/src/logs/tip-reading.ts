/**
 * What is new at the chain's tip, in one request: the logs after a known block, the newest block, the newest final one, and the
 * contract's total.
 */
import { type BlockRef } from '#libs/domain';
import { MalformedAnswerError, NodeBehindError } from '../errors/rpc.errors.js';
import { type TotalCalls } from '../reader/total-calls.js';
import { type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import {
  fetchHeaders,
  type FullHeader,
  parseHeader,
  requireChain,
  tagCall,
} from '../shape/header.js';
import { isRecord, quantity } from '../shape/hex.js';
import { type LogFilter } from './log-filter.js';

export interface TipQuestion {
  /** The newest block that is known. */
  readonly head: BlockRef;
  /** The tag of the newest final block; undefined where finality is a depth. */
  readonly tag: 'finalized' | 'safe' | undefined;
  readonly total: TotalCalls | undefined;
}

export interface TipReading {
  readonly latest: FullHeader;
  readonly finalised: FullHeader | undefined;
  /** By the node's newest block, which may be newer than `latest`. */
  readonly total: bigint | undefined;
  /** Of the blocks after the head, ascending; none where there are none, or too many to be read like this. */
  readonly headers: readonly FullHeader[];
  /** Of those blocks. */
  readonly logs: unknown;
  readonly bytes: number;
}

/** With more blocks missing, ranges are read instead. */
const MOST_BLOCKS = 64n;

/** @throws MalformedAnswerError, NodeBehindError, and the errors of the calls that matter */
export async function readTip(
  session: RpcSession,
  filter: LogFilter,
  { head, tag, total }: TipQuestion,
): Promise<TipReading> {
  const { endpoint } = session;
  const logsCall = { method: 'eth_getLogs', params: [filter.from(head.number + 1n)] };
  const blocks = ['latest', ...(tag === undefined ? [] : [tag])];
  const answer = await session.batch([
    logsCall,
    ...blocks.map(tagCall),
    ...(total?.at('latest') ?? []),
  ]);
  const [logs, newest, ...others] = answer.results;
  const latest = headerIn(newest, 'latest', endpoint);
  const reading = {
    latest,
    finalised: tag && headerIn(others[0], tag, endpoint),
    total: total?.sumOf(answer.results.slice(1 + blocks.length)),
    bytes: answer.bytes,
  };
  const missing = latest.number - head.number;
  // A node may refuse logs from a block on that it does not have yet.
  if (missing <= 0n || missing > MOST_BLOCKS) return { ...reading, headers: [], logs: [] };
  const numbers = Array.from(
    { length: Number(missing) - 1 },
    (_, index) => head.number + 1n + BigInt(index),
  );
  const between = await fetchHeaders(session, numbers);
  const headers = [...between.headers, latest];
  requireChain(headers, endpoint);
  return {
    ...reading,
    headers,
    logs: upTo(valueOf(logs), latest, endpoint),
    bytes: reading.bytes + between.bytes,
  };
}

/** A block may have come in between two calls of one request; its logs are read with it, the next time. */
function upTo(logs: unknown, latest: FullHeader, endpoint: string): unknown[] {
  if (!Array.isArray(logs)) throw new MalformedAnswerError('the logs are not a list', { endpoint });
  const isLater = (log: unknown): boolean => {
    const number = isRecord(log) ? quantity(log['blockNumber']) : undefined;
    return number !== undefined && number > latest.number;
  };
  return (logs as unknown[]).filter((log) => !isLater(log));
}

function headerIn(result: RpcResult | undefined, tag: string, endpoint: string): FullHeader {
  const header = parseHeader(valueOf(result), endpoint);
  if (header) return header;
  throw new NodeBehindError(
    `has no ${tag} block; where the chain has none, set FINALITY=depth:<blocks>`,
    { endpoint },
  );
}
