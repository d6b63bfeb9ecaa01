/** The tools of a story: the four calls, the ledger, and the verdicts. */
import { CHECK_IDS, type CheckId } from '../checks/all-checks.js';
import { type Severity } from '../checks/check.js';
import {
  DeductionLedger,
  type DeductionJournal,
  idText,
  transactionIn,
} from './deduction-ledger.js';
import { StoryBlocked, type Caller, type Plan } from './caller.js';
import { type Exchange } from '../wire/exchange.js';
import { text } from '../wire/transport.js';
import { newRequestId } from '../../request-id.js';

/** The parts of a call that a story may change. */
export type CallOverrides = Omit<Plan, 'step' | 'query' | 'body'>;

interface DeductCall {
  readonly purpose: string;
  readonly points: number;
  readonly id: string;
  /** Default: the player's address. */
  readonly address?: string;
  readonly twist?: CallOverrides;
}

interface RevertCall extends DeductCall {
  /** Absent: the revert names the redemption id only. */
  readonly transactionId?: string | undefined;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly isUndo?: boolean;
}

export interface Balance {
  readonly points: number;
  /** Whether the answer is signed, and names the player's address. */
  readonly isProven: boolean;
}

/** The limit of a deduction, and the journal of all deductions. */
interface RunLimits {
  readonly maxPoints?: number | undefined;
  readonly journal?: DeductionJournal | undefined;
}

export class Tester {
  readonly ledger = new DeductionLedger();
  /** Ids that the journal already holds before their deduction begins. */
  private readonly journaled = new Set<string>();
  /** The calls that have named each redemption id. */
  private readonly named = new Map<string, number>();
  /** Becomes false where the partner turns out to have no such endpoint. */
  hasConfirm = true;

  constructor(
    readonly caller: Caller,
    readonly verdicts: Verdicts,
    readonly address: string,
    /** A player without points, if there is one. */
    readonly emptyAddress: string | undefined,
    private readonly limits: RunLimits = {},
  ) {}

  newId(): string {
    return newRequestId(this.caller.nowMs());
  }

  read(purpose: string, address: string, twist: CallOverrides = {}): Promise<Exchange> {
    return this.caller.call(purpose, { step: 'balance', query: { address }, ...twist });
  }

  /** @throws Blocked where the balance cannot be read or is below `atLeast` */
  async points(purpose: string, atLeast = -Infinity): Promise<number> {
    const { points } = await this.balance(purpose);
    if (points < atLeast) {
      throw new StoryBlocked(
        `It needs ${atLeast} points at ${this.address}, and there are ${points}.`,
      );
    }
    return points;
  }

  /** @throws Blocked where the balance cannot be read */
  async balance(purpose: string, { isUndo = false } = {}): Promise<Balance> {
    const plan = { step: 'balance', query: { address: this.address } } as const;
    const { reading, signature } = await this.caller.call(purpose, plan, { isUndo });
    const { points, address } = readable(reading, 'success').fields;
    const number = typeof points === 'string' && points !== '' ? Number(points) : points;
    if (typeof number !== 'number' || !Number.isFinite(number)) {
      throw new StoryBlocked(
        `The balance cannot be told: points is ${text(points)} (balance-fields).`,
      );
    }
    // The query with the address is not signed, so the answer must name the address.
    const isOurs = idText(address).toLowerCase() === this.address.toLowerCase();
    return { points: number, isProven: isOurs && signature === 'valid' };
  }

  /** The whole balance, to be deducted at once. @throws Blocked where it exceeds the limit of the run */
  allOf(balance: number): number {
    const { maxPoints = Infinity } = this.limits;
    const all = Math.floor(balance);
    if (all <= maxPoints) return all;
    throw new StoryBlocked(
      `It deducts all points of ${this.address}, which has ${all}. Give a test player with at most ${maxPoints}.`,
    );
  }

  /** Tells the journal which redemptions are settled. */
  async tellSettled(ids = this.ledger.takeSettled()): Promise<void> {
    if (ids.length > 0) await this.limits.journal?.settled(ids);
  }

  /** Records a deduction ahead of time, so that its call can be sent at once with others. */
  async journalAhead(svcRedemptionId: string, points: number): Promise<void> {
    if (this.limits.journal === undefined) return;
    await this.limits.journal.sent({ svcRedemptionId, address: this.address, points });
    this.journaled.add(svcRedemptionId);
  }

  async deduct({ purpose, points, id, twist, address }: DeductCall): Promise<Exchange> {
    const terms = { svcRedemptionId: id, address: address ?? this.address, points };
    const body = { address: terms.address, deductPoints: points, svcRedemptionId: id };
    const { journal } = this.limits;
    this.ledger.deductionSent(terms);
    const isNew = this.countNamed(id) === 1;
    try {
      // Without a journal nothing is awaited, so that calls that are made at once also arrive at once.
      if (journal !== undefined && !this.journaled.delete(id)) await journal.sent(terms);
      const exchange = await this.caller.call(purpose, { step: 'deduct', body, ...twist });
      this.ledger.deductionAnswered(id, exchange);
      // No other call named the id meanwhile, so the partner cannot know it.
      if (isNew && this.named.get(id) === 1) this.judgeNewId(exchange);
      if (exchange.reading.kind === 'success') {
        await journal?.succeeded(id, transactionIn(exchange));
      }
      return exchange;
    } finally {
      this.ledger.deductionEnded(id);
    }
  }

  private countNamed(id: string): number {
    const count = (this.named.get(id) ?? 0) + 1;
    this.named.set(id, count);
    return count;
  }

  private judgeNewId(exchange: Exchange): void {
    const { reading, purpose } = exchange;
    if (reading.kind === 'success') this.verdicts.pass('deduct-new-id');
    if (reading.kind !== 'refusal' || reading.code !== 'ERR-DUPLICATE-REQUEST') return;
    const observed = `A redemption id that was never sent before (${purpose}) was refused with ERR-DUPLICATE-REQUEST.`;
    this.verdicts.fail('deduct-new-id', { observed, exchanges: [exchange] });
  }

  async revert(call: RevertCall): Promise<Exchange> {
    const { purpose, points, id, transactionId, twist, extra, isUndo = false } = call;
    const body = {
      svcRedemptionId: id,
      ...(transactionId === undefined ? {} : { partnerTransactionId: transactionId }),
      address: call.address ?? this.address,
      deductPoints: points,
      revertReason: 'Conformance test',
      ...extra,
    };
    this.countNamed(id);
    const exchange = await this.caller.call(
      purpose,
      { step: 'revert', body, ...twist },
      { isUndo },
    );
    if (exchange.reading.kind === 'success')
      this.ledger.revertSucceeded(id, transactionId, exchange);
    return exchange;
  }

  confirm(
    purpose: string,
    body: Readonly<Record<string, unknown>>,
    twist: CallOverrides = {},
  ): Promise<Exchange> {
    return this.caller.call(purpose, { step: 'confirm', body, ...twist });
  }

  /** Records a verdict: failed where `observed` names a problem. */
  judge(
    id: CheckId,
    observed: string | undefined,
    exchanges: readonly Exchange[],
    severity?: Severity,
  ): void {
    if (observed === undefined) this.verdicts.pass(id);
    else {
      const failure = { observed, exchanges };
      this.verdicts.fail(id, severity === undefined ? failure : { ...failure, severity });
    }
  }

  /**
   * Fails the check unless the answer is a refusal with one of these codes.
   * @throws Blocked where the answer is unreadable, which another check reports
   */
  judgeRefusal(id: CheckId, exchange: Exchange, ...codes: readonly string[]): void {
    this.judge(id, notRefused(exchange, codes), [exchange]);
  }
}

/**
 * Undefined where the answer is a refusal with one of the codes, or with any code where none is given; else the fault.
 * @throws Blocked
 */
export function notRefused(exchange: Exchange, codes: readonly string[]): string | undefined {
  const { purpose, reading } = exchange;
  const reads = readable(reading);
  if (reads.kind === 'success') {
    const expected = codes.length === 0 ? 'a refusal' : codes.join(' or ');
    return `The call (${purpose}) succeeded. Expected: ${expected}.`;
  }
  if (codes.length === 0 || codes.includes(reads.code)) return undefined;
  return `The call (${purpose}) was refused with ${text(reads.code)}. Expected: ${codes.join(' or ')}.`;
}

/** Undefined where the answer is a success; else the fault. @throws Blocked */
export function notSucceeded({ purpose, reading }: Exchange): string | undefined {
  const reads = readable(reading);
  if (reads.kind === 'success') return undefined;
  const message = text(reads.fields['errorMessage']);
  return `The call (${purpose}) was refused: ${reads.code}, ${message}. Expected: success.`;
}

type Readable = Exclude<Exchange['reading'], { kind: 'unreadable' }>;
type Success = Extract<Readable, { kind: 'success' }>;

/** @throws Blocked where the answer is unreadable, or is no success although `kind` requires one */
export function readable(reading: Exchange['reading']): Readable;
export function readable(reading: Exchange['reading'], kind: 'success'): Success;
export function readable(reading: Exchange['reading'], kind?: 'success'): Readable {
  if (reading.kind === 'unreadable') {
    throw new StoryBlocked(`An answer on the way could not be read (${reading.fault}).`);
  }
  if (kind === 'success' && reading.kind === 'refusal') {
    throw new StoryBlocked(`A call on the way was refused with ${text(reading.code)}.`);
  }
  return reading;
}

/** The transaction id of a deduction. @throws Blocked where it did not succeed, so that the story cannot go on */
export function transactionOf({ reading }: Exchange): string | undefined {
  return idText(readable(reading, 'success').fields['partnerTransactionId']) || undefined;
}

/** The fault where a balance is not the expected one; else undefined. */
export function notBalance(expected: number, found: number, after: string): string | undefined {
  if (expected === found) return undefined;
  return `After ${after} the balance should be ${expected}, and it is ${found}.`;
}

export interface Failure {
  /** What was observed, in one or two sentences. */
  readonly observed: string;
  /** The calls that show the failure, the most telling last. */
  readonly exchanges: readonly Exchange[];
  /** Overrides the severity of the check, where this failure is less severe. */
  readonly severity?: Severity;
  /** Replaces the remedy of the check. */
  readonly remedy?: string | undefined;
}

export type Verdict =
  | { readonly status: 'passed' }
  | { readonly status: 'failed'; readonly failure: Failure }
  /** `isWished`: an option leaves the check out, so the run is complete without it. */
  | { readonly status: 'skipped'; readonly why: string; readonly isWished: boolean };

/** One verdict for each check. A failed verdict never changes. */
export class Verdicts {
  private readonly verdicts = new Map<CheckId, Verdict>();

  get judged(): number {
    return this.verdicts.size;
  }

  pass(id: CheckId): void {
    if (!this.verdicts.has(id)) this.verdicts.set(id, { status: 'passed' });
  }

  fail(id: CheckId, failure: Failure): void {
    if (this.verdicts.get(id)?.status !== 'failed') {
      this.verdicts.set(id, { status: 'failed', failure });
    }
  }

  /** Skips the checks that have no verdict yet. */
  skip(ids: readonly CheckId[], why: string, isWished = false): void {
    for (const id of ids) {
      if (!this.verdicts.has(id)) this.verdicts.set(id, { status: 'skipped', why, isWished });
    }
  }

  isPassed(id: CheckId): boolean {
    return this.verdicts.get(id)?.status === 'passed';
  }

  isFailed(id: CheckId): boolean {
    return this.verdicts.get(id)?.status === 'failed';
  }

  /** All verdicts in the order of the report. Checks without a verdict are skipped. */
  all(): [CheckId, Verdict][] {
    this.skip(CHECK_IDS, 'It was not reached.');
    return CHECK_IDS.flatMap((id) => {
      const verdict = this.verdicts.get(id);
      return verdict === undefined ? [] : [[id, verdict] as [CheckId, Verdict]];
    });
  }
}

/** A few calls in sequence, and the checks that they decide. */
export interface Story {
  readonly title: string;
  readonly checks: readonly CheckId[];
  /** Rejects with `Blocked` where the story cannot go on. */
  readonly play: (tester: Tester) => Promise<void>;
}
