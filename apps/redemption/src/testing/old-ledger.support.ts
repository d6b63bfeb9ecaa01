/**
 * Backups of single redemptions, taken at the commit of each new state, and restored later. Named as a test file,
 * without tests of its own.
 */
import { type Database } from '#libs/db';
import { type RedemptionState, type UuidV7 } from '#libs/domain';

const TABLES = {
  redemption: 'id',
  transition: 'redemption_id',
  partner_call: 'redemption_id',
  confirmation: 'redemption_id',
} as const;
const NAMES = Object.keys(TABLES) as (keyof typeof TABLES)[];

export class OldLedger {
  private constructor(private readonly database: Database) {}

  /** Begins to take a backup whenever a redemption gets a new version. */
  static async keep(database: Database): Promise<OldLedger> {
    const copies = NAMES.map(
      (name) => `INSERT INTO backup.${name} SELECT NEW.state, t.* FROM redemption.${name} t
        WHERE t.${TABLES[name]} = NEW.id;`,
    );
    await database.pool.query(`CREATE SCHEMA backup;
      ${NAMES.map((name) => `CREATE TABLE backup.${name} AS SELECT ''::text AS taken_in, t.* FROM redemption.${name} t LIMIT 0;`).join('\n')}
      CREATE FUNCTION backup.take() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        IF NOT EXISTS (SELECT FROM backup.redemption b WHERE b.id = NEW.id AND b.taken_in = NEW.state) THEN
          ${copies.join('\n')}
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER backup AFTER INSERT OR UPDATE ON redemption.redemption DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION backup.take();`);
    return new OldLedger(database);
  }

  /** Restores one redemption as it was when it first came to this state. */
  async restore(id: UuidV7, state: RedemptionState): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica');
      for (const name of NAMES) {
        const { rows } = await client.query<{ columns: string }>(
          `SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS columns
            FROM information_schema.columns WHERE table_schema = 'redemption' AND table_name = $1`,
          [name],
        );
        const columns = rows[0]?.columns ?? '';
        await client.query(`DELETE FROM redemption.${name} WHERE ${TABLES[name]} = $1`, [id]);
        await client.query(
          `INSERT INTO redemption.${name} (${columns}) SELECT ${columns} FROM backup.${name}
            WHERE ${TABLES[name]} = $1 AND taken_in = $2`,
          [id, state],
        );
      }
      await client.query(
        'UPDATE redemption.redemption SET leased_until = NULL, lease_owner = NULL WHERE id = $1',
        [id],
      );
    });
  }

  /** Notes the restore as the operator's command does, at a moment that is long past for the database's own clock. */
  async note(
    nowMs: number,
    voucherSeconds: number,
    lostSinceMs = nowMs - 3_600_000,
  ): Promise<void> {
    await this.database.query(
      {
        text: `INSERT INTO redemption.ledger_restore (at, lost_since, vouchers_until_seconds, actor) VALUES ($1, $2, $3, 'test')`,
      },
      [new Date(nowMs), new Date(lostSinceMs), Math.ceil(nowMs / 1000) + voucherSeconds],
    );
  }
}
