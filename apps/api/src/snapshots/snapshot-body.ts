import { PermanentError, SECONDS_PER_DAY } from '#libs/domain';
import { type Snapshot } from './snapshot.js';

const MS_PER_DAY = SECONDS_PER_DAY * 1000;

/** A body with a hole: only the moment of the request differs between two answers made of the same. */
export interface BodyParts {
  readonly head: string;
  readonly tail: string;
}

/** Fills the hole. @param requestedAtMs Unix milliseconds */
export function bodyAt({ head, tail }: BodyParts, requestedAtMs: number): string {
  return head + isoTime(requestedAtMs) + tail;
}

/**
 * The body of a 200, canonical as written: the keys stand here in the order in which RFC 8785 sorts them. Every answer is
 * signed, so the text is made once and not parsed and sorted again; a test holds it against `canonicalJson`.
 * @throws PermanentError NUMBER_TOO_LARGE where an amount is beyond what JSON numbers can say
 */
export function bodyParts(snapshot: Snapshot): BodyParts {
  const { usd } = snapshot;
  const days = snapshot.days.map(({ day, amount }) => {
    const date = dateOf(day);
    return `{"from":"${date}T00:00:00.000Z","snapshotAmount":${numberOf(amount)},"to":"${date}T23:59:59.999Z"}`;
  });
  return {
    head:
      `{"averageStakedAmount":${numberOf(snapshot.average)}` +
      (usd === undefined ? '' : `,"exchangeRateToUSD":${numberOf(usd.rate)}`) +
      `,"requestedAt":"`,
    tail:
      `","stakeContract":"${snapshot.stakeContract}"` +
      `,"stakingSnapshots":[${days.join(',')}]` +
      `,"tokenContract":"${snapshot.tokenContract}"` +
      `,"tokenSymbol":${JSON.stringify(snapshot.tokenSymbol)}` +
      (usd === undefined ? '' : `,"valueInUSD":${numberOf(usd.value)}`) +
      `,"walletAddress":"${snapshot.wallet}"}`,
  };
}

/** The same few days in every answer: their dates are made once. */
const dates = new Map<number, string>();
const MAX_DATES = 100;

function dateOf(day: number): string {
  let date = dates.get(day);
  if (date === undefined) {
    date = isoTime(day * MS_PER_DAY).slice(0, 'YYYY-MM-DD'.length);
    if (dates.size >= MAX_DATES) dates.clear();
    dates.set(day, date);
  }
  return date;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function numberOf(value: number): string {
  if (!Number.isFinite(value)) {
    throw new PermanentError('NUMBER_TOO_LARGE', 'An amount is beyond what JSON numbers can say.');
  }
  return String(value);
}
