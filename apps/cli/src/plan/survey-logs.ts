/**
 * A few ranges spread over the missing blocks: how many blocks the provider gives at once, how many of them hold events, and how long
 * a request takes.
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
import { toldBy } from '#libs/doctor';

interface SurveyQuestion {
  readonly contracts: readonly Address[];
  readonly events: readonly StakeEventSpec[];
  /** The missing blocks, both included. */
  readonly from: bigint;
  readonly to: bigint;
  readonly maxRangeBlocks: number;
  /** Each of them is asked for all ranges: what the strictest one gives counts. */
  readonly each: readonly string[];
  readonly onProgress: (said: string) => void;
}

export interface LogSurvey {
  /** The largest range that was given wherever it was asked for. */
  readonly rangeBlocks: number;
  /** What the provider said of a larger one; undefined where it refused none. */
  readonly refusal: string | undefined;
  readonly places: number;
  /** Different ones, though ranges may overlap; likewise the events. */
  readonly blocks: number;
  readonly eventBlocks: number;
  readonly events: number;
  /** Of the events those that STAKE_EVENTS counts, conditions included. */
  readonly counted: number;
  /** Different ones. */
  readonly wallets: number;
  /** Of an answer, for each block that was asked for. */
  readonly bytesPerBlock: number;
  /** The median of a request for the logs of a range and the header of its end. */
  readonly rangeSeconds: number;
  /** A request for `HEADERS_AT_ONCE` headers. */
  readonly headersSeconds: number;
}

/** Places that are looked at; more where the provider gives small ranges, so that enough blocks are seen. */
const PLACES = 8;
const MOST_PLACES = 40;
export const ENOUGH = 0.02;
/** Ranges that may be refused before the provider's limit counts as not to be found. */
const REFUSALS = 12;
export const HEADERS_AT_ONCE = 20;

interface Sample {
  /** With those that another sample has counted before. */
  readonly asked: number;
  readonly blocks: number;
  readonly eventBlocks: number;
  readonly events: number;
  readonly counted: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** How large a range may be, as far as is known. */
interface Allowed {
  readonly blocks: number;
  readonly refusal: string | undefined;
}

/** @throws RangeTooLargeError where no size is given; AllEndpointsFailedError */
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

/** What this endpoint gives at once. One that does not answer tells nothing. @throws RangeTooLargeError where it gives none */
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
  const enough = Math.ceil((ENOUGH * missing) / rangeBlocks);
  const wanted = Math.min(MOST_PLACES, Math.max(PLACES, enough));
  return Math.min(wanted, Math.ceil(missing / rangeBlocks));
}

/** The first place is at the beginning, the last one at the end. */
function placeOf(index: number, places: number, free: number): bigint {
  return places < 2 ? 0n : BigInt(Math.floor((free * index) / (places - 1)));
}

interface Place {
  readonly start: bigint;
  readonly blocks: number;
  /** Those that its logs name are added. */
  readonly wallets: Set<string>;
  /** Up to this block all is counted already. */
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
        const { value, error } = toldBy(result);
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
 * Adds the wallets that a log names: its last 20 bytes of each field. What is malformed names none.
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

/** -1 where the log does not say. */
function blockOf(log: unknown): bigint {
  const { blockNumber } = (log ?? {}) as { readonly blockNumber?: unknown };
  return wideQuantity(blockNumber) ?? -1n;
}

/** What the indexer would try next; undefined where a smaller range would not help, as far as the error tells. */
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
