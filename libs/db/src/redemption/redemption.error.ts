import {
  type LimitBreach,
  PermanentError,
  type ReservationRefusal,
  RetryableError,
  type UuidV7,
} from '#libs/domain';

/** Another process has moved the row since it was read. Nothing was written: read it again and decide again. */
export class StaleRedemptionError extends RetryableError {
  constructor(id: string) {
    super(
      'REDEMPTION_STALE',
      `Redemption ${id} is no longer as it was read; nothing was written. Read it again.`,
    );
  }
}

/** No release has written the row so. Nothing is done with it until a person has looked. */
export class UnreadableRedemptionError extends PermanentError {
  /** For a person. */
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

/** The lease ran out and another worker has the row. Nothing was written, and this worker drops it. */
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

/** Others write to the ledger, and it took too long. Nothing was written. */
export class LedgerBusyError extends RetryableError {
  constructor() {
    super(
      'LEDGER_BUSY',
      'Others write to the ledger all the time: stop every redemption service, then try again. Nothing was written.',
    );
  }
}

/** A redemption of the ledger, or the clock of the operator, is ahead of the database's. Nothing was written. */
export class RestoreAheadError extends PermanentError {
  constructor(atMs: number) {
    super(
      'RESTORE_TOO_FAR_AHEAD',
      `The note would be of ${new Date(atMs).toISOString()}, more than ten minutes ahead of the database's clock: that is this machine's clock, or a redemption was dated so. Set the clocks right, look at the newest redemptions, then try again. Nothing was noted.`,
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

/** Others of the same wallet are being created, and it took too long. Nothing was written: try again with the same key. */
export class RedemptionBusyError extends RetryableError {
  constructor() {
    super(
      'REDEMPTION_BUSY',
      'Another redemption is being created at this moment. Try again with the same key.',
    );
  }
}

/** The redemption would go beyond a limit; `breach` is for the user. */
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

/** An id of the partner's belongs to another redemption of it already. Decide again, knowing that. */
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
