/**
 * Writes the outcomes of attempts. Outcomes that arrive during a write are written together afterwards: one statement
 * and one commit for all, and one update for each subscription.
 */
import { type AttemptOutcome } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { DatabaseRefusedError } from '../connection/database.error.js';
import { named } from '../connection/named.js';

/** The event to send from a leased lane. */
export interface DueEvent {
  readonly sequence: bigint;
  readonly id: string;
  readonly subscription: string;
  readonly orderKey: string;
  readonly type: string;
  /** Canonical JSON: the bytes to sign and send, the same at each attempt. */
  readonly payload: string;
  readonly waitingSince: Date;
  /** Number of attempts since `waitingSince`. */
  readonly attempts: number;
  readonly url: string;
  /** The valid signing secrets, sealed, newest first. */
  readonly secrets: readonly Buffer[];
}

/** What is stored of an attempt. The caller limits its size and removes secrets. */
export interface AttemptRecord {
  readonly at: Date;
  readonly outcome: AttemptOutcome['kind'];
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
  readonly request: object;
  readonly answer: object;
}

export interface AttemptEnd {
  readonly event: DueEvent;
  readonly owner: string;
  readonly record: AttemptRecord;
  /** Time of the next attempt. Absent: the event is delivered or given up. */
  readonly nextAttemptAt?: Date | undefined;
}

/** After this number of failures in a row an address gets one event at a time. */
export const FAILING = 5;

/**
 * Writes the outcomes of attempts in different lanes, even if their process has lost the leases, and returns the events
 * that were written. Only the holder of a lease sets when the lane is due again. If two processes deliver the same
 * event, one of them ends it. Events are locked before lanes, like by the statement that replays them.
 */
function endStatement(name: string, ofHeldRows: '' | 'SKIP LOCKED') {
  return named<{ ends: string }>(
    name,
    `WITH held AS MATERIALIZED (
        SELECT g.*, l.subscription, l.order_key
        FROM jsonb_to_recordset(:ends::jsonb) AS g(sequence bigint, owner uuid, at timestamptz, outcome text, status int, error text,
            "durationMs" int, request jsonb, answer jsonb, state text, "nextAttemptAt" timestamptz)
          JOIN webhooks.event e ON e.sequence = g.sequence
          JOIN webhooks.lane l ON l.subscription = e.subscription AND l.order_key = e.order_key
        FOR UPDATE OF e, l ${ofHeldRows}
      ), ended AS (
        UPDATE webhooks.event e SET attempts = e.attempts + 1, state = held.state,
          finished_at = CASE WHEN held.state <> 'waiting' THEN clock_timestamp() END
        FROM held WHERE e.sequence = held.sequence AND e.state = 'waiting' RETURNING e.sequence, e.state
      ), noted AS (
        INSERT INTO webhooks.attempt (event, at, outcome, status, error, duration_ms, request, answer)
        SELECT sequence, at, outcome, status, error, "durationMs", request, answer FROM held ORDER BY at
      ), moved AS (
        UPDATE webhooks.lane l SET waiting = l.waiting - (ended.state IS NOT NULL AND ended.state <> 'waiting')::int,
          next_attempt_at = CASE WHEN l.lease_owner = held.owner THEN coalesce(held."nextAttemptAt", now()) ELSE l.next_attempt_at END,
          leased_until = CASE WHEN l.lease_owner = held.owner THEN NULL ELSE l.leased_until END,
          lease_owner = nullif(l.lease_owner, held.owner)
        FROM held LEFT JOIN ended ON ended.sequence = held.sequence
        WHERE l.subscription = held.subscription AND l.order_key = held.order_key
      )
      SELECT sequence FROM held`,
  );
}

/** For one outcome: waits for its rows. */
const END = endStatement('webhook_attempt_end', '');
/**
 * For many outcomes: leaves out rows that another transaction holds. It never waits for a row while it holds others, so
 * that it cannot be part of a deadlock.
 */
const END_MANY = endStatement('webhook_attempts_end', 'SKIP LOCKED');

const FAILURES = `least(${FAILING}, CASE WHEN :delivered::boolean THEN 0 ELSE failures END + :failed::int)`;

/** Deliveries are written at most once a second, because all deliveries of a subscription would write the same row. */
const COUNT = named<{ id: string; delivered: boolean; failed: number }>(
  'webhook_attempts_count',
  `UPDATE webhooks.subscription SET failures = ${FAILURES},
      last_delivered_at = CASE WHEN :delivered::boolean THEN clock_timestamp() ELSE last_delivered_at END
    WHERE id = :id::uuid AND (failures <> ${FAILURES}
      OR :delivered::boolean AND coalesce(last_delivered_at < clock_timestamp() - interval '1 second', true))`,
);

const GONE = named<{ id: string }>(
  'webhook_gone',
  `UPDATE webhooks.subscription SET paused_at = clock_timestamp(), paused_because = 'gone' WHERE id = :id::uuid AND paused_at IS NULL`,
);

interface Waiting {
  readonly end: AttemptEnd;
  readonly written: () => void;
  readonly failed: (error: unknown) => void;
}

/** Maximum number of outcomes in one statement. */
const MAX_OUTCOMES_PER_STATEMENT = 100;

export class AttemptOutcomeWriter {
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(private readonly database: Database) {}

  /** @throws DatabaseUnavailableError, DatabaseRefusedError; the event is sent again when the lease ends */
  add(end: AttemptEnd): Promise<void> {
    return new Promise((written, failed) => {
      this.waiting.push({ end, written, failed });
      void this.write();
    });
  }

  /** Writes one batch after the other, until no outcome waits. */
  private async write(): Promise<void> {
    if (this.isWriting) return;
    this.isWriting = true;
    for (let batch = this.take(); batch.length > 0; batch = this.take()) {
      const [one, ...others] = batch;
      await (others.length === 0 && one !== undefined
        ? this.writeAlone(one)
        : this.writeBatch(batch));
    }
    this.isWriting = false;
  }

  /** Takes the first waiting outcomes, one of each lane. */
  private take(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const later: Waiting[] = [];
    for (const one of this.waiting) {
      const { subscription, orderKey } = one.end.event;
      const lane = `${subscription} ${orderKey}`;
      if (batch.size < MAX_OUTCOMES_PER_STATEMENT && !batch.has(lane)) batch.set(lane, one);
      else later.push(one);
    }
    this.waiting = later;
    return [...batch.values()];
  }

  /** Never rejects: errors go to the callers of `add`. */
  private async writeBatch(batch: readonly Waiting[]): Promise<void> {
    let written = batch;
    try {
      const done = await this.writeTogether(batch);
      written = batch.filter(({ end }) => done.has(end.event.sequence));
      // These writes may wait for a row, so the next batch does not wait for them.
      for (const one of batch) if (!written.includes(one)) void this.writeAlone(one);
      await this.count(written);
      for (const one of written) one.written();
    } catch (error) {
      for (const one of written) one.failed(error);
    }
  }

  /** @returns sequences of the events that were written; none where the database refuses one of them */
  private async writeTogether(batch: readonly Waiting[]): Promise<ReadonlySet<bigint>> {
    const ends = JSON.stringify(batch.map(({ end }) => valuesOf(end)));
    try {
      const rows = await this.database.query<{ sequence: string }>(END_MANY({ ends }));
      return new Set(rows.map(({ sequence }) => BigInt(sequence)));
    } catch (error) {
      if (error instanceof DatabaseRefusedError) return new Set();
      throw error;
    }
  }

  /** Never rejects: errors go to the caller of `add`. */
  private async writeAlone(one: Waiting): Promise<void> {
    try {
      await this.database.query(END({ ends: JSON.stringify([valuesOf(one.end)]) }));
      await this.count([one]);
      one.written();
    } catch (error) {
      one.failed(error);
    }
  }

  /** Counts the failures of each subscription since its last delivery, in the order in which its attempts ended. */
  private async count(written: readonly Waiting[]): Promise<void> {
    const counts = new Map<string, { delivered: boolean; failed: number; gone: boolean }>();
    for (const { end } of written) {
      const { subscription } = end.event;
      const { outcome } = end.record;
      const before = counts.get(subscription) ?? { delivered: false, failed: 0, gone: false };
      const gone = before.gone || outcome === 'gone';
      const after =
        outcome === 'delivered'
          ? { delivered: true, failed: 0, gone }
          : { ...before, failed: before.failed + 1, gone };
      counts.set(subscription, after);
    }
    for (const [id, { delivered, failed, gone }] of counts) {
      await this.database.query(COUNT({ id, delivered, failed }));
      if (gone) await this.database.query(GONE({ id }));
    }
  }
}

function valuesOf({ event, owner, record, nextAttemptAt }: AttemptEnd) {
  const { outcome, status, error } = record;
  const ended = outcome === 'delivered' ? 'delivered' : 'given-up';
  return {
    ...{ sequence: event.sequence.toString(), owner, ...record },
    ...{ status: status ?? null, error: error ?? null },
    state: nextAttemptAt === undefined ? ended : 'waiting',
    nextAttemptAt: nextAttemptAt ?? null,
  };
}
