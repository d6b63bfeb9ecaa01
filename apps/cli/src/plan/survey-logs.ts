/**
 * A few ranges spread over the missing blocks: how many blocks the provider gives at once, how many of them hold events, and how long
 * a request takes.
 */
import {
  AllEndpointsFailedError,
  MalformedAnswerError,
  NodeBehindError,
  RangeTooLargeError,
  type RpcCall,
  type RpcPool,
} from '#libs/chain';
import { type Address } from '#libs/domain';
import { toHex, toldBy } from '../doctor/rpc-question.js';
import { addWalletsOf, type WalletSlots } from './wallets-in-logs.js';

export interface SurveyQuestion {
  readonly contracts: readonly Address[];
  readonly events: readonly WalletSlots[];
  /** The missing blocks, both included. */
  readonly from: bigint;
  readonly to: bigint;
  readonly maxRangeBlocks: number;
  readonly onProgress: (said: string) => void;
}

export interface LogSurvey {
  /** The largest range that was given wherever it was asked for. */
  readonly rangeBlocks: number;
  /** What the provider said of a larger one; undefined where it refused none. */
  readonly refusal: string | undefined;
  readonly places: number;
  readonly blocks: number;
  readonly eventBlocks: number;
  readonly events: number;
  /** Different ones. */
  readonly wallets: number;
  readonly bytes: number;
  /** The median of a request for the logs of a range and the header of its end. */
  readonly rangeSeconds: number;
  /** A request for `HEADERS_AT_ONCE` headers. */
  readonly headersSeconds: number;
}

/** Places that are looked at. */
const PLACES = 8;
/** Ranges that may be refused before the provider's limit counts as not to be found. */
const REFUSALS = 12;
export const HEADERS_AT_ONCE = 20;

interface Sample {
  readonly blocks: number;
  readonly eventBlocks: number;
  readonly events: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** @throws RangeTooLargeError where no size is given; AllEndpointsFailedError */
export async function surveyLogs(pool: RpcPool, question: SurveyQuestion): Promise<LogSurvey> {
  const { from, to, onProgress } = question;
  const missing = Number(to - from) + 1;
  const places = Math.min(PLACES, Math.ceil(missing / question.maxRangeBlocks));
  let rangeBlocks = Math.min(question.maxRangeBlocks, missing);
  let refusal: string | undefined;
  let refused = 0;
  const samples: Sample[] = [];
  const wallets = new Set<string>();
  while (samples.length < places) {
    onProgress(`Asked for logs in ${samples.length} of ${places} places`);
    const start = from + placeOf(samples.length, places, missing - rangeBlocks);
    try {
      samples.push(await sample(pool, question, { start, blocks: rangeBlocks, wallets }));
    } catch (error) {
      const smaller = smallerRange(error, start, rangeBlocks);
      if (smaller === undefined || ++refused > REFUSALS) throw error;
      refusal = refusalOf(error);
      rangeBlocks = smaller;
    }
  }
  return {
    rangeBlocks,
    refusal,
    places,
    blocks: sumOf(samples, 'blocks'),
    eventBlocks: sumOf(samples, 'eventBlocks'),
    events: sumOf(samples, 'events'),
    wallets: wallets.size,
    bytes: sumOf(samples, 'bytes'),
    rangeSeconds: median(samples.map(({ seconds }) => seconds)),
    headersSeconds: await secondsForHeaders(pool, from, missing),
  };
}

/** The first place is at the beginning, the last one at the end. */
function placeOf(index: number, places: number, free: number): bigint {
  return places < 2 ? 0n : BigInt(Math.floor((free * index) / (places - 1)));
}

async function sample(
  pool: RpcPool,
  { contracts, events }: SurveyQuestion,
  asked: { readonly start: bigint; readonly blocks: number; readonly wallets: Set<string> },
): Promise<Sample> {
  const { start, blocks, wallets } = asked;
  const end = start + BigInt(blocks) - 1n;
  const span = { fromBlock: toHex(start), toBlock: toHex(end) };
  const topics = [...new Set(events.map(({ topic0 }) => topic0))];
  const filter = { ...span, address: contracts, topics: [topics] };
  const begunMs = performance.now();
  return pool.run(async (session) => {
    const { results, bytes } = await session.batch([
      { method: 'eth_getLogs', params: [filter] },
      headerCall(end),
    ]);
    const [logs, header] = results.map((result) => {
      const { value, error } = toldBy(result);
      if (error) throw error;
      return value;
    });
    if (!Array.isArray(logs)) throw new MalformedAnswerError('the logs are not a list', session);
    if (typeof header !== 'object' || header === null)
      throw new NodeBehindError(`does not have block ${end}`, session);
    const seconds = (performance.now() - begunMs) / 1000;
    for (const log of logs as unknown[]) addWalletsOf(log, events, wallets);
    const eventBlocks = new Set((logs as { blockNumber?: unknown }[]).map(blockOf)).size;
    return { blocks, eventBlocks, events: logs.length, bytes, seconds };
  });
}

function blockOf(log: { readonly blockNumber?: unknown } | null): unknown {
  return log?.blockNumber;
}

/** Undefined where a smaller range would not help, as far as the error tells. */
function smallerRange(error: unknown, start: bigint, blocks: number): number | undefined {
  if (blocks <= 1) return undefined;
  const half = Math.max(1, Math.floor(blocks / 2));
  if (error instanceof RangeTooLargeError) {
    const proposed = error.proposedTo === undefined ? 0 : Number(error.proposedTo - start) + 1;
    return proposed >= 1 && proposed < blocks ? proposed : half;
  }
  const isMaybeSize =
    error instanceof AllEndpointsFailedError &&
    error.failures.some(({ sizeMayExplain }) => sizeMayExplain);
  return isMaybeSize ? half : undefined;
}

function refusalOf(error: unknown): string {
  const said = error instanceof AllEndpointsFailedError ? error.failures.at(-1) : error;
  return said instanceof Error ? said.message : String(said);
}

async function secondsForHeaders(pool: RpcPool, from: bigint, missing: number): Promise<number> {
  const count = Math.min(HEADERS_AT_ONCE, missing);
  const calls = Array.from({ length: count }, (_, index) =>
    headerCall(from + BigInt(Math.floor((index * missing) / count))),
  );
  const begunMs = performance.now();
  await pool.run((session) => session.batch(calls));
  return (performance.now() - begunMs) / 1000;
}

function headerCall(number: bigint): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toHex(number), false] };
}

function sumOf(samples: readonly Sample[], name: Exclude<keyof Sample, 'seconds'>): number {
  return samples.reduce((sum, one) => sum + one[name], 0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
