import { type CheckId } from '../checks/all-checks.js';
import { type Tester } from '../run/tester.js';

/** A few calls in a row, and the checks that they decide. */
export interface Story {
  readonly title: string;
  readonly checks: readonly CheckId[];
  /** Rejects with Blocked where it cannot go on. */
  readonly run: (tester: Tester) => Promise<void>;
}
