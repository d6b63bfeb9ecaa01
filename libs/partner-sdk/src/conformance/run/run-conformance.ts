import { systemClock } from '../../clock.js';
import { audit } from '../audits/audit.js';
import { CHECK_IDS } from '../checks/all-checks.js';
import { explain, isBalanced, type Left, makeReport, type Report } from '../report/report.js';
import {
  PARALLEL_STORIES,
  type Choice,
  FIRST,
  BALANCE_STORIES,
  OPENING,
  type StoryRow,
} from '../stories/all-stories.js';
import { type Balance, Tester, Verdicts } from './tester.js';
import { pathOf } from '../wire/exchange.js';
import { text } from '../wire/transport.js';
import { type JournalEntry } from './deduction-ledger.js';
import { StoryBlocked, Caller, RunStopped } from './caller.js';
import { type ConformanceOptions, isThisMachine, requireUsable } from './options.js';
import { revertOpen, revertAll, type Unresolved, unproven } from './revert-open.js';

const MAX_RUN_MS = 120_000;

/**
 * Tries a partner's four endpoints against the interface and gives back the points that the run has deducted, also when
 * the run is stopped early. Resolves with a report whatever the partner does.
 * @throws OptionsError
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const baseUrl = requireUsable(options);
  const caller = callerOf(baseUrl, options);
  const { address, emptyAddress, hasConfirm = true } = options;
  const tester = new Tester(caller, new Verdicts(), address, emptyAddress, options);
  tester.hasConfirm = hasConfirm;
  const run = new Run(options, tester);
  const onAbort = (): void => {
    caller.stop('The run was interrupted.');
  };
  options.signal?.addEventListener('abort', onAbort);
  if (options.signal?.aborted === true) onAbort();
  const timer = setTimeout(() => {
    caller.stop('The run took too long.');
  }, options.maxRunMs ?? MAX_RUN_MS);
  try {
    return await run.report(baseUrl);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  }
}

type PartnerOptions = Pick<
  ConformanceOptions,
  'baseUrl' | 'apiKey' | 'sharedSecret' | 'timeoutMs' | 'lookup' | 'clock'
>;

/**
 * Gives back the points that a killed run has deducted.
 * @param entries the deductions in the journal of that run
 * @returns the deductions that could not be given back, with the reasons
 * @throws OptionsError
 */
export async function giveBack(
  options: PartnerOptions,
  entries: readonly JournalEntry[],
): Promise<Unresolved[]> {
  const [first] = entries;
  if (first === undefined) return [];
  const { address } = first;
  const caller = callerOf(requireUsable({ ...options, address }), options);
  const tester = new Tester(caller, new Verdicts(), address, undefined);
  for (const entry of entries) tester.ledger.restore(entry);
  return [...(await revertAll(tester)), ...unproven(tester)];
}

function callerOf(baseUrl: URL, options: PartnerOptions): Caller {
  const { apiKey, sharedSecret, clock = systemClock, timeoutMs, lookup } = options;
  return new Caller({
    target: { baseUrl, apiKey, sharedSecret },
    ...{ clock, lookup },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

class Run {
  constructor(
    private readonly options: ConformanceOptions,
    private readonly tester: Tester,
  ) {}

  async report(baseUrl: URL): Promise<Report> {
    const { tester, options } = this;
    const { caller, verdicts } = tester;
    const startedAtMs = performance.now();
    const isSafe = baseUrl.protocol === 'https:' || isThisMachine(baseUrl);
    const observed = `The base URL is ${baseUrl.href}: keys and answers can be read on the way.`;
    if (!isSafe) tester.judge('base-url-https', observed, []);
    const left = await this.tryEverything();
    if (caller.exchanges.length > 0) verdicts.pass('base-url-https');
    await audit(caller.exchanges, verdicts, options);
    const { limited } = caller;
    const slowed = `${limited.length} call(s) got status 429, and were sent again.`;
    tester.judge('rate-limit', limited.length > 0 ? slowed : undefined, limited.slice(0, 1));
    this.progress('done');
    return makeReport({
      options,
      baseUrl,
      verdicts: verdicts.all(),
      stopped: caller.stopped,
      calls: caller.calls,
      left,
      durationMs: Math.round(performance.now() - startedAtMs),
    });
  }

  private async tryEverything(): Promise<Left> {
    const { verdicts, address } = this.tester;
    const nothing: Left = { before: null, after: null, unresolved: [] };
    await this.play(FIRST);
    if (verdicts.isFailed('call-accepted')) {
      verdicts.skip(CHECK_IDS, 'A rightly signed call was refused (call-accepted).');
      return nothing;
    }
    this.stopEarly();
    const isOver = this.tester.caller.stopped !== undefined;
    const before = isOver ? null : await this.balance('at the beginning');
    if (before === null) {
      // Nothing is deducted from a player whose balance cannot be read.
      verdicts.skip(CHECK_IDS, `The balance of ${address} could not be read.`);
      return nothing;
    }
    await this.tryAll();
    this.progress('giving back');
    const unresolved = await revertAll(this.tester, this.options.abandon);
    const after = await this.balance('at the end');
    const left = explain({ before: before.points, after: after?.points ?? null, unresolved });
    if (before.isProven && after?.isProven === true && isBalanced(left)) {
      // What took nothing, or was given back, as signed balances show, is settled whatever its own answers are.
      const owed = new Set(left.unresolved.map(({ svcRedemptionId }) => svcRedemptionId));
      const ids = [...unresolved, ...unproven(this.tester)].map((one) => one.svcRedemptionId);
      await this.tester.tellSettled(ids.filter((id) => !owed.has(id)));
    }
    return left;
  }

  /** Ends the run where the first call shows that the partner or the player is the wrong one. */
  private stopEarly(): void {
    const { caller, verdicts, address } = this.tester;
    const [first] = caller.exchanges;
    if (first?.came.kind === 'none' && first.came.fault === 'not-sent') {
      caller.forget(first);
      caller.stop(`The partner cannot be reached: ${first.came.detail}.`);
    } else if (first?.reading.kind === 'refusal') {
      const { code, fields } = first.reading;
      if (code === 'ERR-USER-NOT-FOUND') {
        caller.stop(`The address ${address} is no player of the partner.`);
        return;
      }
      const said = `${code}, ${text(fields['errorMessage'])}`;
      const path = pathOf(caller.target, 'balance');
      const observed = `The first balance read was refused: ${said}. The path was "${path}": is it that of your endpoint? Nothing else could be tried.`;
      verdicts.fail('balance-read', { observed, exchanges: [first] });
      caller.stop(`The first balance read was refused with ${code}.`);
    }
  }

  private async tryAll(): Promise<void> {
    const { tester } = this;
    for (const row of OPENING) await this.play(row);
    await Promise.all(PARALLEL_STORIES.map((row) => this.play(row)));
    await revertOpen(tester);
    for (const row of BALANCE_STORIES) {
      const wrong = this.whyNoMore();
      const isLeft = row.left?.(this.choice) !== undefined;
      if (wrong !== undefined && !isLeft) tester.verdicts.skip(row.story.checks, wrong);
      else await this.play(row);
      await revertOpen(tester);
    }
  }

  /** Why no further story may deduct points. Where points do not come back, each further story would cost some. */
  private whyNoMore(): string | undefined {
    const { verdicts, ledger } = this.tester;
    const failed = (['deduct-takes', 'deduct-new-id', 'revert-gives-back'] as const).find((id) =>
      verdicts.isFailed(id),
    );
    if (failed !== undefined) return `Deductions do not work well enough (${failed}).`;
    const stuck = ledger.open().some(({ standing, isClaimed }) => standing.size > 0 && !isClaimed);
    return stuck ? 'Points of an earlier check could not be given back.' : undefined;
  }

  private get choice(): Choice {
    const { mayClaim = true, emptyAddress } = this.options;
    return { hasConfirm: this.tester.hasConfirm, mayClaim, emptyAddress };
  }

  /** Plays the story of the row, unless an option leaves it out. */
  private async play({ story, left: leftBy }: StoryRow): Promise<void> {
    const { verdicts } = this.tester;
    const left = leftBy?.(this.choice);
    if (left !== undefined) {
      verdicts.skip(story.checks, left, true);
      return;
    }
    this.progress(story.title);
    try {
      await story.play(this.tester);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      verdicts.skip(story.checks, message);
      if (error instanceof StoryBlocked || error instanceof RunStopped) return;
      // A fault of the tester itself ends the stories, but the player's points are still given back.
      this.tester.caller.stop(`The tester itself failed in "${story.title}": ${message}`);
    }
    this.progress(story.title);
  }

  /** Null where the balance cannot be read. */
  private async balance(purpose: string): Promise<Balance | null> {
    if (this.options.abandon?.aborted === true) return null;
    try {
      return await this.tester.balance(purpose, { isUndo: true });
    } catch (error) {
      if (error instanceof StoryBlocked) return null;
      throw error;
    }
  }

  private progress(title: string): void {
    const { caller, verdicts } = this.tester;
    this.options.onProgress?.({
      judged: verdicts.judged,
      checks: CHECK_IDS.length,
      calls: caller.calls,
      now: title,
    });
  }
}
