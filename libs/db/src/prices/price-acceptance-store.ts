import { PermanentError } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type AuditNote, noteCommand } from '../redemption/audit-log.js';
import { HOLD_COLUMNS, holdOf, type HoldRow } from './price-store.js';
import { type PriceHold } from './price.js';

export interface PriceAcceptance {
  readonly at: Date;
  readonly usd: string;
  /** The price that was held at that moment, and the reason of the hold. */
  readonly heldUsd: string;
  readonly reason: string;
  readonly actor: string;
}

export class PriceNotHeldError extends PermanentError {
  constructor() {
    super('PRICE_NOT_HELD', 'No price is held: there is nothing to accept.');
  }
}

export class PriceMovedError extends PermanentError {
  constructor(usd: string) {
    super(
      'PRICE_MOVED',
      `The price that is held now is ${usd} USD, too far from the one that was named. Nothing was accepted.`,
    );
  }
}

/** Locks the hold, so that the indexer cannot write the next reading meanwhile. */
const HELD = named<{ usd: string }>(
  'price_held',
  `SELECT ${HOLD_COLUMNS}, abs(:usd::numeric - h.usd) <= h.max_change * h.usd AS "isNear"
    FROM staking.price_hold h FOR UPDATE`,
);

const ACCEPT = named<Record<'usd' | 'heldUsd' | 'reason' | 'actor', string>>(
  'price_accept',
  'INSERT INTO staking.price_acceptance (usd, held_usd, reason, actor) VALUES (:usd, :heldUsd, :reason, :actor)',
);

const NEWEST = named(
  'price_newest_acceptance',
  'SELECT at, usd, held_usd AS "heldUsd", reason, actor FROM staking.price_acceptance ORDER BY id DESC LIMIT 1',
);

/** Operators' acceptances of held prices. */
export class PriceAcceptanceStore {
  constructor(private readonly database: Database) {}

  /**
   * Accepts a price and writes an audit row. The hold ends with the next reading that differs from this price by
   * a fifth at most; any other reading is held again.
   * @param usd a plain decimal above 0
   * @throws PriceNotHeldError; PriceMovedError where the price that is held now is not near `usd`. Nothing is
   * written in these cases.
   */
  accept(usd: string, { actor, note }: { actor: string; note: AuditNote }): Promise<PriceHold> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<HoldRow & { isNear: boolean }>(HELD({ usd }));
      const [held] = rows;
      if (held === undefined) throw new PriceNotHeldError();
      if (!held.isNear) throw new PriceMovedError(held.usd);
      const { usd: heldUsd, reason } = held;
      await client.query(ACCEPT({ usd, heldUsd, reason, actor }));
      await noteCommand(client, actor, note);
      return holdOf(held);
    });
  }

  /** The newest acceptance; undefined where there is none. */
  async newest(): Promise<PriceAcceptance | undefined> {
    return (await this.database.query<PriceAcceptance & object>(NEWEST({})))[0];
  }
}
