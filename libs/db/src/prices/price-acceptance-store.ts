import { PermanentError } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { run } from '../connection/statement.js';
import { AUDIT, auditValues } from '../redemption/redemption-views.js';
import { type AuditNote } from '../redemption/transition-write.js';
import { ACCEPTED_SINCE, holdOf, type HoldRow } from './price-hold.js';
import { type PriceHold } from './price.js';

export interface PriceAcceptance {
  readonly at: Date;
  readonly usd: string;
  /** What was held at that moment, and why. */
  readonly heldUsd: string;
  readonly reason: string;
  readonly actor: string;
}

export class PriceNotHeldError extends PermanentError {
  constructor() {
    super('PRICE_NOT_HELD', 'No price is held: there is nothing to accept.');
  }
}

/** The figure that was named is not near the one that is held. */
export class PriceMovedError extends PermanentError {
  constructor(usd: string) {
    super(
      'PRICE_MOVED',
      `The price that is held now is ${usd} USD, too far from the one that was named. Nothing was accepted.`,
    );
  }
}

/** Locks against the indexer, which writes the next reading. */
const HELD: Statement = {
  text: `SELECT h.since, h.reason, h.before_usd, h.max_change, h.usd, h.observed_at, h.source, ${ACCEPTED_SINCE} AS is_accepted,
      abs($1::numeric - h.usd) <= h.max_change * h.usd AS is_near
    FROM staking.price_hold h FOR UPDATE`,
};

const ACCEPT: Statement = {
  text: `INSERT INTO staking.price_acceptance (usd, held_usd, reason, actor) VALUES ($1, $2, $3, $4)`,
};

const NEWEST: Statement = {
  text: `SELECT at, usd, held_usd AS "heldUsd", reason, actor FROM staking.price_acceptance ORDER BY id DESC LIMIT 1`,
};

/** What operators say of prices that are held. Written by the cli. */
export class PriceAcceptanceStore {
  constructor(private readonly database: Database) {}

  /**
   * Accepts a figure, with its audit row. The hold ends with the next reading that is near it, by PRICE_MAX_CHANGE; another price is
   * held again.
   * @param usd a plain decimal above 0
   * @throws PriceNotHeldError; PriceMovedError where the price that is held by now is not near it; nothing is written then
   */
  accept(usd: string, { actor, note }: { actor: string; note: AuditNote }): Promise<PriceHold> {
    return this.database.transaction(async (client) => {
      const [row] = await run<HoldRow & { is_near: boolean }>(client, HELD, [usd]);
      if (row === undefined) throw new PriceNotHeldError();
      if (!row.is_near) throw new PriceMovedError(row.usd);
      await run(client, ACCEPT, [usd, row.usd, row.reason, actor]);
      await run(client, AUDIT, auditValues(actor, note, {}));
      return holdOf(row);
    });
  }

  /** Undefined where none was ever accepted. */
  async newest(): Promise<PriceAcceptance | undefined> {
    const [row] = await this.database.query<PriceAcceptance & object>(NEWEST);
    return row;
  }
}
