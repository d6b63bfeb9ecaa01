/** What is new at the chain's tip, read from one node in one request. */
import { type BlockRef } from '#libs/domain';
import { type TotalCalls } from '../calls/stake-views.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import {
  fetchHeaders,
  type FullHeader,
  parseTagged,
  requireChain,
  tagCall,
} from '../blocks/header.js';
import { isRecord, quantity } from '../rpc/hex.js';
import { type LogList, parseLogList, type RawLogList } from './range-logs.js';
import { type LogFilter } from './log-filter.js';

export interface TipQuestion {
  readonly head: BlockRef;
  /** The tag of the newest final block; undefined where finality is a depth. */
  readonly tag: 'finalized' | 'safe' | undefined;
  readonly total: TotalCalls | undefined;
}

export interface TipFacts {
  readonly latest: FullHeader;
  readonly finalised: FullHeader | undefined;
  /** At the node's newest block, which may be newer than `latest`. */
  readonly total: bigint | undefined;
}

interface TipReading extends TipFacts {
  /**
   * Headers of the blocks after the head, ascending; empty where there are none, or too many to be read in this way.
   */
  readonly headers: readonly FullHeader[];
  readonly logs: LogList;
  readonly bytes: number;
}

/** Most blocks that are read in this way. Where more are missing, ranges are read instead. */
const MOST_BLOCKS = 64n;

/**
 * Reads what is new at the chain's tip in one request: the logs after a known block, the newest block, the newest final
 * block, and the contracts' total. A second request reads headers where several blocks are new.
 * @throws MalformedAnswerError, NodeBehindError, and the errors of the calls that matter
 */
export async function readTip(
  session: RpcSession,
  filter: LogFilter,
  { head, tag, total }: TipQuestion,
): Promise<TipReading> {
  const logsCall = { method: 'eth_getLogs', params: [filter.from(head.number + 1n)] };
  const blocks = ['latest', ...(tag === undefined ? [] : [tag])];
  const answer = await session.batch([
    logsCall,
    ...blocks.map(tagCall),
    ...(total?.at('latest') ?? []),
  ]);
  const [logs, newest, ...others] = answer.results;
  const latest = parseTagged(newest, 'latest', session);
  const reading = {
    latest,
    finalised: tag && parseTagged(others[0], tag, session),
    total: total?.sumOf(answer.results.slice(1 + blocks.length)),
    bytes: answer.bytes,
  };
  const missing = latest.number - head.number;
  // A node may refuse logs from a block on that it does not have yet, so the logs are not looked at.
  if (missing <= 0n || missing > MOST_BLOCKS) {
    return { ...reading, headers: [], logs: parseLogList([], session) };
  }
  const numbers = Array.from(
    { length: Number(missing) - 1 },
    (_, index) => head.number + 1n + BigInt(index),
  );
  const between = await fetchHeaders(session, numbers);
  const headers = [...between.headers, latest];
  requireChain(headers, session);
  return {
    ...reading,
    headers,
    logs: upTo(parseLogList(valueOf(logs), session), latest),
    bytes: reading.bytes + between.bytes,
  };
}

/**
 * Drops the logs above `latest`. A block may arrive between two calls of one request; its logs are read the next time.
 */
function upTo(list: RawLogList, latest: FullHeader): LogList {
  const isLater = (log: unknown): boolean => {
    const number = isRecord(log) ? quantity(log['blockNumber']) : undefined;
    return number !== undefined && number > latest.number;
  };
  const logs = list.logs.filter((log) => !isLater(log));
  return { ...list, logs };
}
