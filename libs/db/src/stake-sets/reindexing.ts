/**
 * A new index beside the one in use, the exchange of the two, and the way back. While a set is indexed again, the new
 * index has the schema `staking_next` (`stakes_NAME_next`), with all tables of a set. The exchange moves the tables that
 * are derived from the chain: those of the index in use to `staking_before`, the new ones to `staking`. Everything else
 * of the set stays where it is: prices, sealed days with their lists, and audits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type PoolClient } from 'pg';
import { PermanentError, RetryableError } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { createDatabase } from '../migrations/create-database.js';
import { isRefusal } from '../connection/database.error.js';
import { underMigrationLock } from '../migrations/migration-lock.js';
import { named } from '../connection/named.js';
import { IndexMissingError } from '../index-store/index-state.js';
import { grantRights } from '../roles/grant-rights.js';
import { type IndexPart, schemaOf } from '../connection/stake-set.js';
import { SET_MIGRATION_NAMES, upgradeSchema } from './upgrade-sets.js';

/** Tables of a set that cannot be read from the chain again. An exchange leaves them as they are. */
export const KEPT_TABLES: readonly string[] = [
  'price',
  'price_hold',
  'price_acceptance',
  'audit_run',
  'sealed_day',
  'sealed_leaves',
  'sealed_nodes',
  'seal_recheck',
  'doubtful_day',
];

/** Locked first and in the order in which programs lock them. */
const BUSY_TABLES = ['index_state', 'balance_day', 'balance_change'] as const;

/** Readers queue behind a waiting exchange for this long, less than a server takes to look for a deadlock. */
const LOCK_TIMEOUT = '200ms';
const PAUSE_MS = 800;

/** A note on a schema of an index that is not in use, in the schema's comment. */
interface SchemaNote {
  /** The migrations that were applied to it, oldest first. */
  readonly migrations: readonly string[];
  readonly at: string;
}

interface Standing {
  /** When the new index was begun; undefined where there is none. */
  readonly next: Date | undefined;
  /** When the index before was exchanged; undefined where it is not kept. */
  readonly before: Date | undefined;
}

/** The exchange did not get its locks, because a long transaction reads the index. Nothing was changed. */
export class ExchangeBusyError extends RetryableError {
  constructor(cause: unknown) {
    super(
      'EXCHANGE_BUSY',
      'A transaction reads the index for long, so the indexes could not be exchanged: find it (pg_stat_activity, xact_start). ' +
        'Nothing was changed; run the command again.',
      { cause },
    );
  }
}

export class NoIndexBeforeError extends PermanentError {
  constructor() {
    super('NO_INDEX_BEFORE', 'There is no other index: `index again` makes one.');
  }
}

const NOTE_OF = named<{ schema: string }>(
  'reindexing_note',
  `SELECT obj_description(oid, 'pg_namespace') AS note FROM pg_namespace WHERE nspname = :schema`,
);

const DERIVED = named<{ schema: string; kept: readonly string[] }>(
  'reindexing_derived',
  `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = :schema AND c.relkind IN ('r', 'p', 'v') AND c.relname <> ALL (:kept) ORDER BY c.relname`,
);

/** Triggers of tables in one schema whose functions are in another one. */
const FOREIGN_TRIGGERS = named<{ tables: string; functions: string }>(
  'reindexing_triggers',
  `SELECT pg_get_triggerdef(t.oid) AS definition
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE NOT t.tgisinternal AND c.relnamespace = :tables::regnamespace AND p.pronamespace = :functions::regnamespace`,
);

const BYTES = named<{ schema: string; kept: readonly string[] }>(
  'reindexing_bytes',
  `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = :schema AND c.relkind = 'r' AND c.relname <> ALL (:kept)`,
);

export class Reindexing {
  private readonly current: string;
  private readonly next: string;
  private readonly before: string;

  /**
   * @param url of the owner of the schema
   * @param stakeSet name of an existing set
   * @param tries how often a change asks for its locks, once a second
   */
  constructor(
    private readonly url: string,
    stakeSet: string,
    private readonly tries = 30,
  ) {
    const schemas = (['current', 'next', 'before'] as const).map((part) =>
      schemaOf(stakeSet, part),
    );
    [this.current, this.next, this.before] = schemas as [string, string, string];
  }

  standing(): Promise<Standing> {
    return this.withDatabase(async (database) => {
      const [next, before] = await Promise.all(
        [this.next, this.before].map((schema) => noteOf(database, schema)),
      );
      return { next: dateOf(next), before: dateOf(before) };
    });
  }

  /** Bytes of the tables that an exchange moves, with their indexes. */
  bytes(): Promise<number> {
    return this.withDatabase(async (database) => {
      const statement = BYTES({ schema: this.current, kept: KEPT_TABLES });
      const [row] = await database.query<{ bytes: string }>(statement);
      return Number(row?.bytes ?? 0);
    });
  }

  /** Makes the schema of the new index, or brings it up to date. */
  make(): Promise<void> {
    return underMigrationLock(this.url, async (database) => {
      const { next } = this;
      const note = await noteOf(database, next);
      const applied = note?.migrations ?? [];
      await database.transaction(async (client) => {
        await upgradeSchema(client, next, applied);
        await setNote(client, next, note?.at);
      });
      await grantRights(database);
    });
  }

  /**
   * Puts the new index in the place of the one in use, in one transaction.
   * @throws ExchangeBusyError, IndexMissingError
   */
  exchange(): Promise<void> {
    const { current, next, before } = this;
    return this.changing(async (client) => {
      await lockIndex(client, next);
      await lockIndex(client, current);
      const fence = await fenceOf(client, current);
      await client.query(`CREATE SCHEMA ${before}`);
      await setNote(client, before);
      await moveDerived(client, current, before);
      await moveDerived(client, next, current);
      // The functions of the set stay, and those of the new schema go.
      const definitions = await run<{ definition: string }>(
        client,
        FOREIGN_TRIGGERS({ tables: current, functions: next }),
      );
      for (const { definition } of definitions) {
        const ours = definition.replaceAll(` ${next}.`, ` ${current}.`);
        await client.query(ours.replace(/^CREATE TRIGGER/, 'CREATE OR REPLACE TRIGGER'));
      }
      await client.query(`DROP SCHEMA ${next} CASCADE`);
      await takeOver(client, current, fence);
    });
  }

  /**
   * Puts the index before in its place again, and removes the one that replaced it. Before the exchange: removes the
   * new index.
   * @throws ExchangeBusyError, NoIndexBeforeError; PermanentError where the index before is of an older version
   */
  async undo(): Promise<'went back' | 'removed'> {
    const { next, before } = await this.standing();
    if (before !== undefined) {
      await this.changing((client) => this.goBack(client));
      return 'went back';
    }
    if (next === undefined) throw new NoIndexBeforeError();
    await this.remove('next');
    return 'removed';
  }

  /** Removes an index that is not in use. @throws ExchangeBusyError, NoIndexBeforeError */
  async remove(part: Exclude<IndexPart, 'current'>): Promise<void> {
    const standing = await this.standing();
    if (standing[part] === undefined) throw new NoIndexBeforeError();
    await this.changing((client) => client.query(`DROP SCHEMA ${this[part]} CASCADE`));
  }

  private async goBack(client: PoolClient): Promise<void> {
    const { current, before } = this;
    const note = await noteOf(client, before);
    if (note?.migrations.join() !== SET_MIGRATION_NAMES.join()) {
      throw new PermanentError(
        'INDEX_OUTDATED',
        'The index before has the tables of an older version, so it can no longer be used. Remove it: index again --drop-old.',
      );
    }
    const gone = `${current}_gone`;
    await lockIndex(client, before);
    await lockIndex(client, current);
    const fence = await fenceOf(client, current);
    await client.query(`CREATE SCHEMA ${gone}`);
    await moveDerived(client, current, gone);
    await moveDerived(client, before, current);
    await client.query(`DROP SCHEMA ${gone}, ${before} CASCADE`);
    await takeOver(client, current, fence);
  }

  /** Runs a transaction whose locks the readers of the index get out of the way of. @throws ExchangeBusyError */
  private changing(work: (client: PoolClient) => Promise<unknown>): Promise<void> {
    return underMigrationLock(this.url, async (database) => {
      for (let left = this.tries; ; left--) {
        try {
          await database.transaction(async (client) => {
            await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
            await work(client);
          });
          return;
        } catch (error) {
          if (!isRefusal(error, 'lock_not_available')) throw error;
          if (left <= 1) throw new ExchangeBusyError(error);
        }
        await sleep(PAUSE_MS);
      }
    });
  }

  private async withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const { url } = this;
    const database = await createDatabase({ url, applicationName: 'lowmark index', poolSize: 2 });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }
}

async function noteOf(on: Database | PoolClient, schema: string): Promise<SchemaNote | undefined> {
  const statement = NOTE_OF({ schema });
  type Row = { note: string | null };
  const [row] = 'pool' in on ? await on.query<Row>(statement) : await run<Row>(on, statement);
  if (row === undefined) return undefined;
  return JSON.parse(row.note ?? '{"migrations":[],"at":0}') as SchemaNote;
}

/** Notes that a schema has all migrations. @param at default: now */
async function setNote(client: PoolClient, schema: string, at?: string): Promise<void> {
  const { rows } = await client.query<{ at: string }>('SELECT to_json(now()) AS at');
  const note = { migrations: SET_MIGRATION_NAMES, at: at ?? rows[0]?.at ?? '' };
  await client.query(`COMMENT ON SCHEMA ${schema} IS '${JSON.stringify(note)}'`);
}

function dateOf(note: SchemaNote | undefined): Date | undefined {
  return note && new Date(note.at);
}

async function lockIndex(client: PoolClient, schema: string): Promise<void> {
  for (const table of BUSY_TABLES) {
    await client.query(`LOCK TABLE ${schema}.${table} IN ACCESS EXCLUSIVE MODE`);
  }
}

async function fenceOf(client: PoolClient, schema: string): Promise<bigint> {
  const { rows } = await client.query<{ fence: string }>(`SELECT fence FROM ${schema}.index_state`);
  return BigInt(rows[0]?.fence ?? 0);
}

async function moveDerived(client: PoolClient, from: string, to: string): Promise<void> {
  const tables = await run<{ name: string }>(client, DERIVED({ schema: from, kept: KEPT_TABLES }));
  for (const { name } of tables) {
    await client.query(`ALTER TABLE ${from}."${name}" SET SCHEMA ${to}`);
  }
}

/**
 * Makes the index that has taken the place of another one the newest: programs that wrote the other one are fenced out,
 * caches are of another version, and sealed days are calculated again.
 */
async function takeOver(client: PoolClient, schema: string, fence: bigint): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE ${schema}.index_state SET fence = greatest(fence, ${fence}) + 1, updated_at = now()`,
  );
  if (rowCount !== 1) throw new IndexMissingError();
  await client.query(
    `INSERT INTO ${schema}.seal_recheck AS noted (from_day)
      SELECT min(day) FROM ${schema}.sealed_day HAVING count(*) > 0
      ON CONFLICT (only_row) DO UPDATE SET from_day = least(noted.from_day, excluded.from_day)`,
  );
}
