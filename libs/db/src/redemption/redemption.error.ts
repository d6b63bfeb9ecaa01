import {
  type LimitBreach,
  PermanentError,
  type ReservationRefusal,
  RetryableError,
  type UuidV7,
} from '#libs/domain';

/**
 * Another process has changed the row since it was read. Nothing was written; the caller has to read and decide again.
 */
export class StaleRedemptionError extends RetryableError {
  constructor(id: string) {
    super(
      'REDEMPTION_STALE',
      `Redemption ${id} is no longer as it was read; nothing was written. Read it again.`,
    );
  }
}

/** No release writes such a row. Nothing is done with the redemption until a person has looked at it. */
export class UnreadableRedemptionError extends PermanentError {
  /** Describes the fault for a person. */
  readonly fault: string;

  constructor(
    readonly redemptionId: string,
    cause: unknown,
  ) {
    const fault = cause instanceof Error ? cause.message : 'no redemption';
    super(
      'REDEMPTION_UNREADABLE',
      `Redemption ${redemptionId} cannot be read (${fault}): no program of ours has written it so.`,
      { cause },
    );
    this.fault = fault;
  }
}

/** The lease has ended or belongs to another worker. Nothing was written, and this worker drops the redemption. */
export class LeaseLostError extends PermanentError {
  constructor(id: string) {
    super(
      'REDEMPTION_LEASE_LOST',
      `The lease on redemption ${id} is another worker's or has ended; nothing was written.`,
    );
  }
}

export class RedemptionMissingError extends PermanentError {
  constructor(id: string) {
    super('REDEMPTION_MISSING', `There is no redemption ${id}.`);
  }
}

/** Other transactions kept the ledger busy for too long. Nothing was written. */
export class LedgerBusyError extends RetryableError {
  constructor() {
    super(
      'LEDGER_BUSY',
      'Others write to the ledger all the time: stop every redemption service, then try again. Nothing was written.',
    );
  }
}

/**
 * A redemption in the ledger, or the operator's clock, is too far ahead of the database's clock. Nothing was written.
 */
export class RestoreAheadError extends PermanentError {
  constructor(atMs: number) {
    super(
      'RESTORE_TOO_FAR_AHEAD',
      `The note would be of ${new Date(atMs).toISOString()}, more than ten minutes ahead of the database's clock: that is this machine's clock, or a redemption was dated so. Set the clocks right, look at the newest redemptions, then try again. Nothing was noted.`,
    );
  }
}

/**
 * The ledger was restored, or went back in time, and no note says so. Nothing was written, and nothing may be paid,
 * deducted or given back.
 */
export class RestoreNotNotedError extends RetryableError {
  constructor(options?: ErrorOptions) {
    super(
      'RESTORE_NOT_NOTED',
      'The ledger went back in time, and this was not noted: nothing is paid, deducted or given back. Stop every redemption service and run `ledger restored`, as docs/operating/backup.md says under "Restoring the ledger".',
      options,
    );
  }
}

export class IdempotencyConflictError extends PermanentError {
  constructor() {
    super(
      'IDEMPOTENCY_CONFLICT',
      'This Idempotency-Key was used for another request. Use a new key for a new redemption.',
    );
  }
}

/**
 * Other creations of the same wallet took too long. Nothing was written; the caller may try again with the same key.
 */
export class RedemptionBusyError extends RetryableError {
  constructor() {
    super(
      'REDEMPTION_BUSY',
      'Another redemption is being created at this moment. Try again with the same key.',
    );
  }
}

/** The redemption would exceed a limit. `breach` is for the user. */
export class LimitBreachedError extends PermanentError {
  constructor(readonly breach: LimitBreach) {
    super('REDEMPTION_LIMIT', breach.message);
  }
}

/** The tokens of the redemption cannot be reserved. Nothing was written, and no points were taken. */
export class ReservationRefusedError extends PermanentError {
  constructor(
    id: string,
    readonly reason: ReservationRefusal,
  ) {
    super('RESERVATION_REFUSED', `The tokens of redemption ${id} cannot be reserved: ${reason}.`);
  }
}

/**
 * Another redemption of the partner already has this transaction or revert id. The caller has to decide
 * again with this knowledge.
 */
export class PartnerIdReusedError extends RetryableError {
  constructor(
    readonly redemptionId: UuidV7,
    readonly which: 'transaction' | 'revert',
  ) {
    super(
      'PARTNER_ID_REUSED',
      `The ${which} id that the partner gave for redemption ${redemptionId} belongs to another one.`,
    );
  }
}
