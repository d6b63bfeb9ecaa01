import { type PartnerId } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';

export interface ConformanceDeduction {
  readonly redemptionId: string;
  readonly partnerId: PartnerId;
  /** The player's address, as it was sent. */
  readonly address: string;
  readonly points: number;
  /** Empty where the successful answer named none; null where no success was seen. */
  readonly transactionId: string | null;
}

export type NewConformanceDeduction = Omit<ConformanceDeduction, 'transactionId'> & {
  readonly runId: string;
};

/** Time for which a console keeps the rows of its runs, unless it extends the time by `hold`. */
const LEASE = `interval '1 minute'`;

const ADD = named<NewConformanceDeduction & object>(
  'conformance_deduction_add',
  `INSERT INTO console.conformance_deduction (redemption_id, run_id, partner, address, points, due_at)
    VALUES (:redemptionId, :runId, :partnerId, :address, :points, now() + ${LEASE}) ON CONFLICT DO NOTHING`,
);

const NOTE_SUCCESS = named<{ redemptionId: string; transactionId: string }>(
  'conformance_deduction_success',
  `UPDATE console.conformance_deduction SET transaction_id = :transactionId WHERE redemption_id = :redemptionId`,
);

const REMOVE = named<{ redemptionIds: readonly string[] }>(
  'conformance_deduction_remove',
  'DELETE FROM console.conformance_deduction WHERE redemption_id = ANY (:redemptionIds::uuid[])',
);

const HOLD = named<{ runIds: readonly string[] }>(
  'conformance_deduction_hold',
  `UPDATE console.conformance_deduction SET due_at = now() + ${LEASE} WHERE run_id = ANY (:runIds::uuid[])`,
);

/** Each attempt doubles the wait for the next one, up to a day. The shortest wait is longer than an attempt takes. */
const TAKE_DUE = named<{ most: number }>(
  'conformance_deduction_take_due',
  `UPDATE console.conformance_deduction d
    SET attempts = d.attempts + 1, due_at = now() + least(interval '1 day', interval '4 minutes' * 2 ^ least(d.attempts, 20))
    FROM (SELECT redemption_id FROM console.conformance_deduction WHERE due_at <= now()
      ORDER BY due_at LIMIT :most FOR UPDATE SKIP LOCKED) due
    WHERE d.redemption_id = due.redemption_id
    RETURNING d.redemption_id AS "redemptionId", d.partner AS "partnerId", d.address, d.points::float8 AS points,
      d.transaction_id AS "transactionId"`,
);

/**
 * Deductions of conformance runs that may still have to be given back. All times are the database's, so that they are
 * the same for all consoles.
 */
export class ConformanceDeductionStore {
  constructor(private readonly database: Database) {}

  /** Adds a deduction. One with the same redemption id stays as it is. */
  async add(deduction: NewConformanceDeduction): Promise<void> {
    await this.database.query(ADD(deduction));
  }

  async noteSuccess(redemptionId: string, transactionId: string): Promise<void> {
    await this.database.query(NOTE_SUCCESS({ redemptionId, transactionId }));
  }

  async remove(redemptionIds: readonly string[]): Promise<void> {
    await this.database.query(REMOVE({ redemptionIds }));
  }

  /** Keeps the rows of these runs: for a minute no other console takes them. */
  async hold(runIds: readonly string[]): Promise<void> {
    await this.database.query(HOLD({ runIds }));
  }

  /** Takes rows that no running console keeps. For some minutes no other caller gets them. */
  takeDue(most: number): Promise<ConformanceDeduction[]> {
    return this.database.query<ConformanceDeduction & object>(TAKE_DUE({ most }));
  }
}
