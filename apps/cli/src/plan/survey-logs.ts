/**
 * Samples a few ranges of the missing blocks: how many blocks the provider gives at once, how many of them have events,
 * and how long a request takes.
 */
import {
  AllEndpointsFailedError,
  ANSWER_BYTES,
  headerCall,
  isCounted,
  MalformedAnswerError,
  NodeBehindError,
  RangeSizer,
  RangeTooLargeError,
  type RpcPool,
  sizeFailureIn,
  type StakeEventSpec,
  toQuantity,
  wideQuantity,
} from '#libs/chain';
import { type Address } from '#libs/domain';
import { answerOf } from '#libs/doctor';

interface SurveyQuestion {
  readonly contracts: readonly Address[];
  readonly events: readonly StakeEventSpec[];
  /** The missing blocks, both ends included. */
  readonly from: bigint;
  readonly to: bigint;
  readonly maxRangeBlocks: number;
  /** Endpoints that all have to give the ranges; the smallest limit counts. */
  readonly each: readonly string[];
  readonly onProgress: (said: string) => void;
}

export interface LogSurvey {
  /** The largest range that was given wherever it was requested. */
  readonly rangeBlocks: number;
  /** The provider's answer to a larger range; undefined where it refused none. */
  readonly refusal: string | undefined;
  readonly places: number;
  /** Distinct blocks, as ranges may overlap; `eventBlocks` and `events` are distinct too. */
  readonly blocks: number;
  readonly eventBlocks: number;
  readonly events: number;
  /** Number of events that STAKE_EVENTS counts, including its conditions. */
  readonly counted: number;
  /** Number of distinct wallets. */
  readonly wallets: number;
  /** Size of the answers per requested block, in bytes. */
  readonly bytesPerBlock: number;
  /** Median time of a request for the logs of a range and the header of its last block. */
  readonly rangeSeconds: number;
  /** Time of a request for `HEADERS_AT_ONCE` headers. */
  readonly headersSeconds: number;
}

/** Sampled places; more with small ranges, so that enough blocks are seen. */
const PLACES = 8;
const MOST_PLACES = 40;
export const MIN_SAMPLED_SHARE = 0.02;
/** Refused ranges after which the search for the provider's limit stops. */
const REFUSALS = 12;
export const HEADERS_AT_ONCE = 20;

interface Sample {
  /** Requested blocks, including blocks that an earlier sample has counted. */
  readonly asked: number;
  readonly blocks: number;
  readonly eventBlocks: number;
  readonly events: number;
  readonly counted: number;
  readonly bytes: number;
  readonly seconds: number;
}

interface Allowed {
  readonly blocks: number;
  readonly refusal: string | undefined;
}

/** @throws RangeTooLargeError where no size is accepted; AllEndpointsFailedError */
export async function surveyLogs(pool: RpcPool, question: SurveyQuestion): Promise<LogSurvey> {
  const { from, to, each, onProgress } = question;
  const missing = Number(to - from) + 1;
  let allowed: Allowed = { blocks: Math.min(question.maxRangeBlocks, missing), refusal: undefined };
  for (const endpoint of each) {
    onProgress(`Asking ${endpoint} for the largest range`);
    allowed = await allowedBy(pool, { ...question, endpoint }, allowed);
  }
  let places = placesFor(missing, allowed.blocks);
  let refused = 0;
  const samples: Sample[] = [];
  const wallets = new Set<string>();
  let seenTo = from - 1n;
  while (samples.length < places) {
    onProgress(`Asking for logs: ${samples.length} of ${places} places are read`);
    const { blocks } = allowed;
    const start = from + placeOf(samples.length, places, missing - blocks);
    try {
      samples.push(await sample(pool, question, { start, blocks, wallets, seenTo }));
      seenTo = start + BigInt(blocks) - 1n;
    } catch (error) {
      const smaller = smallerRange(error, start, blocks);
      if (smaller === undefined || ++refused > REFUSALS) throw error;
      allowed = smaller;
      if (samples.length === 0) places = placesFor(missing, smaller.blocks);
    }
  }
  return {
    rangeBlocks: allowed.blocks,
    refusal: allowed.refusal,
    places,
    blocks: sumOf(samples, 'blocks'),
    eventBlocks: sumOf(samples, 'eventBlocks'),
    events: sumOf(samples, 'events'),
    counted: sumOf(samples, 'counted'),
    wallets: wallets.size,
    bytesPerBlock: sumOf(samples, 'bytes') / sumOf(samples, 'asked'),
    rangeSeconds: median(samples.map(({ seconds }) => seconds)),
    headersSeconds: await secondsForHeaders(pool, from, missing),
  };
}

/**
 * Reduces the allowed range to what this endpoint gives; an endpoint that does not answer changes nothing. @throws
 * RangeTooLargeError where the endpoint gives no range
 */
async function allowedBy(
  pool: RpcPool,
  question: SurveyQuestion & { readonly endpoint: string },
  before: Allowed,
): Promise<Allowed> {
  const { from, endpoint } = question;
  let allowed = before;
  for (let refused = 0; refused <= REFUSALS; refused++) {
    const { blocks } = allowed;
    const asked = { start: from, blocks, wallets: new Set<string>(), seenTo: from - 1n };
    try {
      await sample(pool, question, asked, endpoint);
      return allowed;
    } catch (error) {
      const smaller = smallerRange(error, from, blocks);
      if (smaller !== undefined) allowed = smaller;
      else if (error instanceof AllEndpointsFailedError) return before;
      else throw error;
    }
  }
  return before;
}

function placesFor(missing: number, rangeBlocks: number): number {
  const enough = Math.ceil((MIN_SAMPLED_SHARE * missing) / rangeBlocks);
  const wanted = Math.min(MOST_PLACES, Math.max(PLACES, enough));
  return Math.min(wanted, Math.ceil(missing / rangeBlocks));
}

/** Offset of a place: the first is at the beginning, the last at the end. */
function placeOf(index: number, places: number, free: number): bigint {
  return places < 2 ? 0n : BigInt(Math.floor((free * index) / (places - 1)));
}

interface Place {
  readonly start: bigint;
  readonly blocks: number;
  /** Receives the wallets that the logs name. */
  readonly wallets: Set<string>;
  /** Blocks up to this one are already counted. */
  readonly seenTo: bigint;
}

async function sample(
  pool: RpcPool,
  { contracts, events }: SurveyQuestion,
  asked: Place,
  only?: string,
): Promise<Sample> {
  const { start, blocks, wallets, seenTo } = asked;
  const end = start + BigInt(blocks) - 1n;
  const span = { fromBlock: toQuantity(start), toBlock: toQuantity(end) };
  const topics = [...new Set(events.map(({ topic0 }) => topic0))];
  const filter = { ...span, address: contracts, topics: [topics] };
  const begunMs = performance.now();
  return pool.run(
    async (session) => {
      const { results, bytes } = await session.batch([
        { method: 'eth_getLogs', params: [filter] },
        headerCall(end),
      ]);
      const [logs, header] = results.map((result) => {
        const { value, error } = answerOf(result);
        if (error) throw error;
        return value;
      });
      if (!Array.isArray(logs)) throw new MalformedAnswerError('the logs are not a list', session);
      if (typeof header !== 'object' || header === null)
        throw new NodeBehindError(`does not have block ${end}`, session);
      const seconds = (performance.now() - begunMs) / 1000;
      const unseen = (logs as unknown[]).filter((log) => blockOf(log) > seenTo);
      const counted = unseen.filter((log) => addWalletsOf(log, events, wallets)).length;
      return {
        asked: blocks,
        blocks: Number(end - (seenTo < start ? start - 1n : seenTo)),
        eventBlocks: new Set(unseen.map(blockOf)).size,
        events: unseen.length,
        counted,
        bytes,
        seconds,
      };
    },
    only === undefined ? {} : { only },
  );
}

/**
 * Adds the wallets that a log names: the last 20 bytes of each field. A malformed log names none.
 * @returns whether one of the events counts the log
 */
function addWalletsOf(
  log: unknown,
  events: readonly StakeEventSpec[],
  wallets: Set<string>,
): boolean {
  const { topics, data } = (log ?? {}) as { readonly topics?: unknown; readonly data?: unknown };
  if (!Array.isArray(topics) || typeof data !== 'string') return false;
  const counting = events.filter((event) => isCounted([event], { topics, data }));
  for (const { account, receiver } of counting) {
    for (const slot of receiver ? [account, receiver] : [account]) {
      const word: unknown =
        slot.in === 'topic'
          ? topics[slot.index]
          : data.slice(2 + slot.word * 64, 2 + (slot.word + 1) * 64);
      if (typeof word === 'string') wallets.add(word.slice(-40));
    }
  }
  return counting.length > 0;
}

/** -1 where the log has no block number. */
function blockOf(log: unknown): bigint {
  const { blockNumber } = (log ?? {}) as { readonly blockNumber?: unknown };
  return wideQuantity(blockNumber) ?? -1n;
}

/** The next size that the indexer would try; undefined where the error shows that a smaller range would not help. */
function smallerRange(error: unknown, start: bigint, blocks: number): Allowed | undefined {
  const failure = blocks > 1 ? sizeFailureIn(error) : undefined;
  if (failure === undefined) return undefined;
  const limits = { targetBytes: ANSWER_BYTES, maxBlocks: blocks, initialBlocks: blocks };
  const proposed =
    failure instanceof RangeTooLargeError ? failure.proposedBlocks(start) : undefined;
  const smaller = new RangeSizer(limits).refused(blocks, proposed);
  return { blocks: smaller, refusal: failure.message };
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

function sumOf(samples: readonly Sample[], name: Exclude<keyof Sample, 'seconds'>): number {
  return samples.reduce((sum, one) => sum + one[name], 0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
