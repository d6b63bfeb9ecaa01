import { type CheckId } from '../checks/all-checks.js';
import { type Exchange } from '../wire/exchange.js';

/** What one answer does wrong. */
export interface Fault {
  readonly check: CheckId;
  readonly observed: string;
  readonly exchange: Exchange;
}
