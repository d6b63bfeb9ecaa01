/**
 * What an answer about snapshots is held to and how it is written, for one wallet or many: worked out exactly and rounded once, by the
 * rules of docs/wire/snapshots.md.
 */
import { type SnapshotState, walletDaysFrom } from '#libs/db';
import {
  type AccountId,
  accountIdText,
  type Address,
  averageStaked,
  coverage,
  type CoverageGap,
  dailyMinima,
  type DailyMinimum,
  type DayBalance,
  dayText,
  type DayWindow,
  type Decimal,
  parseDecimal,
  PermanentError,
  ratioToNumber,
  tokensToNumber,
  valueOf,
} from '#libs/domain';
import { HttpProblem } from '#libs/service';
import { type ApiSettings } from '../api.env.js';

const GAPS: Readonly<Record<CoverageGap, readonly [retryAfterSeconds: number, message: string]>> = {
  'not-synced': [30, 'The index of staked balances is not complete yet: try again later.'],
  lagging: [5, 'The index of staked balances is behind the chain: try again shortly.'],
  halted: [60, 'The index of staked balances has stopped and is being looked after.'],
};

export function unavailable(gap: CoverageGap): HttpProblem {
  const [retryAfterSeconds, message] = GAPS[gap];
  return new HttpProblem(503, message, { retryAfterSeconds });
}

/** @throws HttpProblem 503 */
export function requireCovered(
  { head, syncedAt, haltedReason }: SnapshotState,
  { endSeconds }: { readonly endSeconds: number },
  nowMs: number,
  { indexMaxLagSeconds }: ApiSettings,
): void {
  const progress = { headSeconds: head.timestampSeconds, syncedAt, haltedReason };
  const covered = coverage(progress, { endSeconds }, nowMs, indexMaxLagSeconds);
  if (covered !== 'covered') throw unavailable(covered.reason);
}

/** US dollars for one token; undefined where no price is fresh. */
export function freshPriceOf(
  { price }: SnapshotState,
  nowMs: number,
  { priceMaxAgeSeconds }: ApiSettings,
): string | undefined {
  if (price === undefined) return undefined;
  const ageMs = nowMs - price.observedAt.getTime();
  return ageMs <= priceMaxAgeSeconds * 1000 ? price.usd : undefined;
}

/** Of a wallet that never staked. */
export function noStake(wallet: Address, contract: AccountId | undefined): HttpProblem {
  const of = contract === undefined ? '' : ` in ${accountIdText(contract)}`;
  return new HttpProblem(404, `No staking data for wallet ${wallet}${of}`);
}

/** The headers of an answer from the index: names and values in turn. */
export function indexHeaders({ head, finalisedSeconds }: SnapshotState, window: DayWindow) {
  const isFinal = (finalisedSeconds ?? -Infinity) >= window.endSeconds;
  return ['x-index-block', head.number.toString(), 'x-index-final', String(isFinal)];
}

/** The answer before it is written: numbers are final, days are still numbers. */
export interface Snapshot {
  readonly wallet: Address;
  readonly tokenSymbol: string;
  readonly tokenContract: Address;
  readonly stakeContract: Address;
  /** Where a contract was asked for: that one, and its chain. */
  readonly contract?: { readonly account: string; readonly chainId: number } | undefined;
  /** In token units, like every amount here. */
  readonly average: number;
  /** Absent without a price, or where it is too old. */
  readonly usd?: { readonly value: number; readonly rate: number };
  /** Oldest first. */
  readonly days: readonly { readonly day: number; readonly amount: number }[];
}

/** A body with a hole: only the moment of the request differs between two answers made of the same. */
export interface SnapshotFacts {
  readonly head: string;
  readonly tail: string;
}

export interface Rendering {
  readonly wallet: Address;
  readonly window: DayWindow;
  readonly state: SnapshotState;
  /** US dollars for one token; undefined without a fresh price. */
  readonly usd: string | undefined;
  /** The account id that was asked for; undefined where none was. */
  readonly contract: string | undefined;
}

/** An answer without its time, and what it was made of beside the part of its wallet. */
interface RenderedSnapshot extends Rendering {
  readonly body: SnapshotFacts;
}

/** What the rows of a wallet give, and the newest answer that was made of them. */
export interface WalletAnswer {
  /** For `walletDaysFrom`; undefined where the wallet never staked. */
  readonly daysText: string | undefined;
  rendered?: RenderedSnapshot;
}

/** The answer that was made before, where nothing else differs, or a new one; undefined where the wallet never staked. */
export function renderedOf(
  { daysText, rendered }: WalletAnswer,
  rendering: Rendering,
): RenderedSnapshot | undefined {
  if (daysText === undefined) return undefined;
  if (rendered !== undefined && isSame(rendered, rendering)) return rendered;
  const days = daysIn(walletDaysFrom(daysText), rendering.window);
  return { ...rendering, body: bodyParts(snapshotOf(days, rendering)) };
}

function isSame(rendered: RenderedSnapshot, { window, state, usd, contract }: Rendering): boolean {
  const { state: before } = rendered;
  if (rendered.window.firstDay !== window.firstDay || rendered.usd !== usd) return false;
  if (rendered.contract !== contract) return false;
  return (
    before === state ||
    (before.tokenSymbol === state.tokenSymbol &&
      before.tokenDecimals === state.tokenDecimals &&
      before.tokenContract === state.tokenContract &&
      before.chainId === state.chainId &&
      before.stakeContract === state.stakeContract)
  );
}

/** @param days of the window, and the newest one before it */
export function snapshotOf(
  days: readonly DayBalance[],
  { wallet, window, state, usd, contract }: Rendering,
): Snapshot {
  const { tokenSymbol, tokenContract, stakeContract, tokenDecimals, chainId } = state;
  const minima = dailyMinima(days, window);
  const average = averageStaked(
    minima.map(({ minimum }) => minimum),
    window.endDay - window.firstDay,
    tokenDecimals,
  );
  const rate = usd === undefined ? undefined : rateOf(usd);
  const value = rate && valueOf(average, rate.exact);
  return {
    ...{ wallet, tokenSymbol, tokenContract, stakeContract },
    ...(contract !== undefined && { contract: { account: contract, chainId } }),
    average: ratioToNumber(average.numerator, average.denominator),
    ...(value && {
      usd: {
        value: ratioToNumber(value.numerator, value.denominator),
        rate: rate.rounded,
      },
    }),
    days: amountsOf(minima, tokenDecimals),
  };
}

interface Rate {
  readonly usd: string;
  readonly exact: Decimal;
  readonly rounded: number;
}

/** The same in most answers: what was read last is not read again. */
let lastRate: Rate | undefined;

function rateOf(usd: string): Rate {
  if (lastRate?.usd !== usd) {
    const exact = parseDecimal(usd);
    lastRate = { usd, exact, rounded: tokensToNumber(exact.digits, exact.scale) };
  }
  return lastRate;
}

/** Those of the window and the newest one before it; the rows are newest first. */
function daysIn(days: readonly DayBalance[], { firstDay }: DayWindow): readonly DayBalance[] {
  const before = days.findIndex(({ day }) => day < firstDay);
  return before < 0 ? days : days.slice(0, before + 1);
}

/** Most days are as the day before: what was rounded last is not rounded again. */
function amountsOf(minima: readonly DailyMinimum[], decimals: number): Snapshot['days'] {
  let last = { minimum: 0n, amount: 0 };
  return minima.map(({ day, minimum }) => {
    if (minimum !== last.minimum) last = { minimum, amount: tokensToNumber(minimum, decimals) };
    return { day, amount: last.amount };
  });
}

/** Fills the hole. @param requestedAt ISO 8601 */
export function bodyAt({ head, tail }: SnapshotFacts, requestedAt: string): string {
  return head + requestedAt + tail;
}

/**
 * The body of a 200, canonical as written: the keys stand here in the order in which RFC 8785 sorts them. Every answer is
 * signed, so the text is made once and not parsed and sorted again; a test holds it against `canonicalJson`.
 * @throws PermanentError NUMBER_TOO_LARGE where an amount is beyond what JSON numbers can say
 */
export function bodyParts(snapshot: Snapshot): SnapshotFacts {
  const { usd, contract } = snapshot;
  let last = { amount: 0, text: '0' };
  let days = '';
  for (const { day, amount } of snapshot.days) {
    if (amount !== last.amount) last = { amount, text: numberOf(amount) };
    const { before, behind } = textsOf(day);
    days += (days === '' ? before : `,${before}`) + last.text + behind;
  }
  return {
    head:
      `{"averageStakedAmount":${numberOf(snapshot.average)}` +
      (contract === undefined
        ? ''
        : `,"chainId":${contract.chainId},"contract":"${contract.account}"`) +
      (usd === undefined ? '' : `,"exchangeRateToUSD":${numberOf(usd.rate)}`) +
      `,"requestedAt":"`,
    tail:
      `","stakeContract":"${snapshot.stakeContract}"` +
      `,"stakingSnapshots":[${days}]` +
      `,"tokenContract":"${snapshot.tokenContract}"` +
      `,"tokenSymbol":${JSON.stringify(snapshot.tokenSymbol)}` +
      (usd === undefined ? '' : `,"valueInUSD":${numberOf(usd.value)}`) +
      `,"walletAddress":"${snapshot.wallet}"}`,
  };
}

/** What stands around the amount of a day. */
interface DayTexts {
  readonly before: string;
  readonly behind: string;
}

/** The same few days in every answer: their texts are made once. */
const texts = new Map<number, DayTexts>();
const MAX_TEXTS = 100;

function textsOf(day: number): DayTexts {
  let found = texts.get(day);
  if (found === undefined) {
    const date = dayText(day);
    found = {
      before: `{"from":"${date}T00:00:00.000Z","snapshotAmount":`,
      behind: `,"to":"${date}T23:59:59.999Z"}`,
    };
    if (texts.size >= MAX_TEXTS) texts.clear();
    texts.set(day, found);
  }
  return found;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function numberOf(value: number): string {
  if (!Number.isFinite(value)) {
    throw new PermanentError('NUMBER_TOO_LARGE', 'An amount is beyond what JSON numbers can say.');
  }
  return String(value);
}
