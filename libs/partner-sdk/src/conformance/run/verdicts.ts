import { CHECK_IDS, type CheckId } from '../checks/all-checks.js';
import { type Severity } from '../checks/check.js';
import { type Exchange } from '../wire/exchange.js';

export interface Failure {
  /** What was seen, in a sentence or two. */
  readonly observed: string;
  /** The calls that show it, the most telling last. */
  readonly exchanges: readonly Exchange[];
  /** Where it is not as bad as the check in general. */
  readonly severity?: Severity;
}

export type Verdict =
  | { readonly status: 'passed' }
  | { readonly status: 'failed'; readonly failure: Failure }
  /** `isWished`: an option left it out, so the run is complete without it. */
  | { readonly status: 'skipped'; readonly why: string; readonly isWished: boolean };

/** One verdict for each check. A failure stays, whatever comes after. */
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

  /** For those that have no verdict yet. */
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

  /** In the order of the report. */
  all(): [CheckId, Verdict][] {
    this.skip(CHECK_IDS, 'It was not reached.');
    return CHECK_IDS.flatMap((id) => {
      const verdict = this.verdicts.get(id);
      return verdict === undefined ? [] : [[id, verdict] as [CheckId, Verdict]];
    });
  }
}
