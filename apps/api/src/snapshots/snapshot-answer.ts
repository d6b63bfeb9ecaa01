/**
 * Decides whether a state of the index may answer a request for snapshots, and writes the answer, for one wallet or
 * many. Figures are computed exactly and rounded once, by the rules of docs/wire/snapshots.md.
 */
import { ANSWERED_PRICE_MAX_AGE_SECONDS } from '#libs/config';
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
import { NoStakeProblem } from '../http/error-body.js';

const GAPS: Readonly<Record<CoverageGap, readonly [retryAfterSeconds: number, message: string]>> = {
  'not-synced': [30, 'The index of staked balances is not complete yet: try again later.'],
  lagging: [5, 'The index of staked balances is behind the chain: try again shortly.'],
  ahead: [30, 'The clock of this server is behind the index of staked balances: try again later.'],
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

/** `Retry-After` in seconds: an operator has to repair the index. */
const WRONG_RETRY_SECONDS = 60;

export function knownWrong(what: string): HttpProblem {
  const message = `${what} is known to be wrong in the index and is being corrected: try again later.`;
  return new HttpProblem(503, message, { retryAfterSeconds: WRONG_RETRY_SECONDS });
}

/** @throws HttpProblem 503 if a check has found one of the wallets to be wrong, or a sum */
export function requireNoFinding({ findings }: SnapshotState, wallets: readonly Address[]): void {
  if (findings === 'all') throw knownWrong('A sum of balances');
  if (findings.size === 0) return;
  const wrong = wallets.find((wallet) => findings.has(wallet));
  if (wrong !== undefined) throw knownWrong(`A balance of ${wrong}`);
}

/** US dollars for one token; undefined where the price is missing or too old. */
export function freshPriceOf(
  { price }: SnapshotState,
  nowMs: number,
  { priceMaxAgeSeconds = ANSWERED_PRICE_MAX_AGE_SECONDS }: ApiSettings,
): string | undefined {
  if (price === undefined) return undefined;
  const ageMs = nowMs - price.observedAt.getTime();
  return ageMs <= priceMaxAgeSeconds * 1000 ? price.usd : undefined;
}

/** The 404 for a wallet that never staked. @param requestedAt ISO 8601 */
export function noStake(
  wallet: Address,
  {
    contract,
    requestedAt,
  }: { readonly contract: AccountId | undefined; readonly requestedAt: string },
): NoStakeProblem {
  const of = contract === undefined ? '' : ` in ${accountIdText(contract)}`;
  return new NoStakeProblem(`No staking data for wallet ${wallet}${of}`, requestedAt);
}

/** Headers that describe the state of the index: names and values, alternating. */
export function indexHeaders({ head, finalisedSeconds }: SnapshotState, window: DayWindow) {
  const isFinal = (finalisedSeconds ?? -Infinity) >= window.endSeconds;
  return ['x-index-block', head.number.toString(), 'x-index-final', String(isFinal)];
}

/** The content of an answer: figures are rounded, days are still numbers. */
export interface Snapshot {
  readonly wallet: Address;
  readonly tokenSymbol: string;
  readonly tokenContract: Address;
  readonly stakeContract: Address;
  /** The requested contract and its chain; absent where the request names no contract. */
  readonly contract?: { readonly account: string; readonly chainId: number } | undefined;
  /** In token units, as all amounts in this interface. */
  readonly average: number;
  /** Absent where the price is missing or too old. */
  readonly usd?: { readonly value: number; readonly rate: number };
  /** Oldest first. */
  readonly days: readonly { readonly day: number; readonly amount: number }[];
}

/**
 * A body in two parts, with room for `requestedAt` between them: only this time differs between answers from the same
 * data.
 */
export interface SplitBody {
  readonly head: string;
  readonly tail: string;
}

export interface Rendering {
  readonly wallet: Address;
  readonly window: DayWindow;
  readonly state: SnapshotState;
  /** US dollars for one token; undefined where the price is missing or too old. */
  readonly usd: string | undefined;
  /** The requested account id; undefined where the request names no contract. */
  readonly contract: string | undefined;
}

/** A rendered body without `requestedAt`, and the inputs that it was rendered from. */
interface RenderedSnapshot extends Rendering {
  readonly body: SplitBody;
}

/** The rows of a wallet, and the newest answer rendered from them. */
export interface WalletAnswer {
  /** Text for `walletDaysFrom`; undefined where the wallet never staked. */
  readonly daysText: string | undefined;
  rendered?: RenderedSnapshot;
}

/**
 * Returns the last rendered answer if its inputs are the same; otherwise renders a new one and keeps it in `answer`.
 * Undefined if the wallet never staked.
 */
export function renderedOf(
  answer: WalletAnswer,
  rendering: Rendering,
): RenderedSnapshot | undefined {
  const { daysText, rendered } = answer;
  if (daysText === undefined) return undefined;
  if (rendered !== undefined && isSame(rendered, rendering)) return rendered;
  const days = daysIn(walletDaysFrom(daysText), rendering.window);
  answer.rendered = { ...rendering, body: bodyParts(snapshotOf(days, rendering)) };
  return answer.rendered;
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

/** @param days the days of the window, and the newest day before the window */
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

/** Cache of the last price, because most answers use the same one. */
let lastRate: Rate | undefined;

function rateOf(usd: string): Rate {
  if (lastRate?.usd !== usd) {
    const exact = parseDecimal(usd);
    lastRate = { usd, exact, rounded: tokensToNumber(exact.digits, exact.scale) };
  }
  return lastRate;
}

/** The rows of the window and the newest row before it, from rows that are sorted newest first. */
function daysIn(days: readonly DayBalance[], { firstDay }: DayWindow): readonly DayBalance[] {
  const before = days.findIndex(({ day }) => day < firstDay);
  return before < 0 ? days : days.slice(0, before + 1);
}

/** Rounds an amount only where it differs from that of the day before, because most days are equal. */
function amountsOf(minima: readonly DailyMinimum[], decimals: number): Snapshot['days'] {
  let last = { minimum: 0n, amount: 0 };
  return minima.map(({ day, minimum }) => {
    if (minimum !== last.minimum) last = { minimum, amount: tokensToNumber(minimum, decimals) };
    return { day, amount: last.amount };
  });
}

/**
 * Joins both parts of a body around the time of the request.
 * @param requestedAt ISO 8601
 */
export function bodyAt({ head, tail }: SplitBody, requestedAt: string): string {
  return head + requestedAt + tail;
}

/**
 * The body of a 200, canonical as written: the keys are in the order in which RFC 8785 sorts them. Every answer is
 * signed, so its text is made only once and not parsed and sorted again; a test compares it with `canonicalJson`.
 * @throws PermanentError NUMBER_TOO_LARGE where an amount exceeds the range of JSON numbers
 */
export function bodyParts(snapshot: Snapshot): SplitBody {
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

/** The texts before and behind the amount of a day. */
interface DayTexts {
  readonly before: string;
  readonly behind: string;
}

/** Cache of these texts by day, because all answers are about the same few days. */
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
