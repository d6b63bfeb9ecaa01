/** Compares the entities with the database. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataSource, type EntityMetadata } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { type Database } from './connection/database.js';
import { entities } from './entities.js';
import { SCHEMAS } from './roles/rights.js';

/** The tables without an entity, each with the reason. */
const BY_HAND: Record<string, string> = {
  'lowmark.migration': 'TypeORM’s own record of the migrations',
  'staking.index_state': 'each write is one statement, guarded by fence and head',
  'staking.block': 'written with the head',
  'staking.balance_change': 'written by COPY, removed from the newest end',
  'staking.day_total': 'written by the statement that moves the head',
  'staking.balance_day': 'written by COPY, and the read of a snapshot is one statement',
  'staking.price': 'stored by one statement under the leader’s fence, of any stake set',
  'staking.price_acceptance': 'added by one statement, of any stake set',
  'staking.audit_run': 'added and read by one statement each, of any stake set',
  'staking.price_hold': 'begins, lasts and ends within one statement under the leader’s fence',
  'staking.sealed_day': 'sealed by one statement, under the leader’s fence',
  'staking.sealed_leaves': 'chunks of bytes, written with the day',
  'staking.sealed_nodes': 'chunks of bytes, written with the day',
  'staking.finding': 'noted and cleared as a list',
  'staking.doubtful_day': 'noted with a repair, cleared with the seal',
  'partners.correction': 'written in the transaction of a repair',
  'partners.corrected_days': 'written in the transaction of a repair',
  'partners.corrected_answer': 'written as a list, read as JSON',
  'staking.seal_recheck': 'noted by triggers, moved on day by day',
  'redemption.redemption': 'leases and transitions are one statement each',
  'redemption.transition': 'written in the statement of the transition',
  'redemption.partner_call': 'written in the statement of the transition',
  'redemption.confirmation': 'leases and deliveries are one statement each',
  'redemption.idempotency_key': 'written in the statement that creates the redemption',
  'redemption.reserved': 'kept by triggers; no program may touch it',
  'redemption.released': 'kept by triggers; no program may touch it',
  'redemption.task': 'taken, renewed and released by one statement each',
  'redemption.vain_attempt': 'counted and forgotten by INSERT … ON CONFLICT and DELETE … USING',
  'redemption.coin_spent': 'counted by INSERT … ON CONFLICT within a limit',
  'redemption.vault_claim': 'written in batches, read as sums beside the redemptions',
  'redemption.reconciliation_checkpoint': 'moves on from where it was seen, with its sums',
  'redemption.reconciliation_run': 'read with what was acknowledged since',
  'redemption.claim_watch': 'moves on from where it was seen',
  'redemption.claim_alarm': 'judged beside the redemptions in the statement that writes it',
  'redemption.claim_acknowledgement': 'written for what the claim is found to be in that statement',
  'redemption.ledger_restore': 'read beside each redemption',
  'redemption.unnoted_restore': 'its presence alone counts, to triggers too',
  'redemption.audit': 'written by the statements of what it tells, and read as a log',
  'redemption.session': 'opened, found and closed by one statement each',
  'redemption.nonce': 'used once, by the statement that removes it; the console’s has the same',
  'redemption.registry_publication': 'each step states what it goes on from, in one statement',
  'redemption.registry_transaction': 'written with the publication whose nonce it has',
  'console.nonce': 'used once, by the statement that removes it; the service’s has the same',
  'console.session': 'counts only beside the member whose it is',
  'console.login_attempt': 'used once, by the statement that removes it',
  'console.sign_in_link': 'used once, in one statement',
  'console.invitation': 'accepted once, in one statement',
  'console.member': 'added by INSERT … ON CONFLICT',
  'console.conformance_run': 'begun by INSERT … ON CONFLICT while no other run is under way',
  'console.conformance_deduction': 'taken by one console at a time, in one statement',
  'console.approval': 'decided once, by the statement that changes it',
  'console.member_limit': 'counted by INSERT … ON CONFLICT within a limit',
  'console.granted_role': 'known by the newest sign-in, by INSERT … ON CONFLICT',
  'webhooks.subscription': 'written with its secret and cursor, in one statement',
  'webhooks.secret': 'rotated in one statement',
  'webhooks.event': 'leased, ended and replayed with its lane, in one statement',
  'webhooks.lane': 'upserted by a trigger, leased by a statement',
  'webhooks.attempt': 'written in the statement that ends the attempt',
  'webhooks.told_day': 'noted in the statement that tells the day',
  'partners.request': 'written through a function, in batches',
};

/** $1 is a table. Constraints: p primary key, u unique, f foreign key. */
const COLUMNS = {
  text: `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS "isNullable",
      pg_get_expr(d.adbin, d.adrelid) AS default, a.attidentity = 'a' AS "isIdentity"
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
    WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1`,
};
const CONSTRAINTS = {
  text: `SELECT contype AS kind, coalesce((SELECT format('%I.%I', n.nspname, c.relname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = confrelid), '-') AS "refersTo",
      ARRAY(SELECT a.attname::text FROM unnest(conkey) WITH ORDINALITY AS k(number, place)
        JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.number ORDER BY k.place) AS columns
    FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u', 'f') ORDER BY 1, 3`,
};

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly default: string | null;
  readonly isIdentity: boolean;
}

interface Constraint {
  readonly kind: string;
  readonly refersTo: string;
  readonly columns: readonly string[];
}

/** Removes the cast: `'{}'::jsonb` and `'{}'` have the same text. */
function plainDefault(expression: string | undefined | null): string | null {
  return expression?.replace(/^'(.*)'(::[\w\s[\]]+)?$/, '$1') ?? null;
}

async function tableOf(database: Database, table: string) {
  const columns = await database.query<Column & object>(COLUMNS, [table]);
  const constraints = await database.query<Constraint & object>(CONSTRAINTS, [table]);
  return {
    columns: columns.map((column) => ({ ...column, default: plainDefault(column.default) })),
    constraints,
  };
}

function expectedTable({ driver }: DataSource, entity: EntityMetadata) {
  const columns = entity.columns.map((column): Column => {
    const { precision, scale, isArray, isGenerated, generationStrategy } = column;
    const digits = precision == null ? '' : `(${precision},${scale ?? 0})`;
    const isUuid = isGenerated && generationStrategy === 'uuid';
    return {
      name: column.databaseName,
      type: `${driver.normalizeType(column)}${digits}${isArray ? '[]' : ''}`,
      isNullable: column.isNullable,
      default: isUuid ? 'gen_random_uuid()' : plainDefault(driver.normalizeDefault(column)),
      isIdentity: column.generatedIdentity === 'ALWAYS',
    };
  });
  const names = (of: readonly { databaseName: string }[]) =>
    of.map(({ databaseName }) => databaseName);
  const primary = names(entity.primaryColumns);
  const uniques = entity.uniques.map((unique) => names(unique.columns));
  const constraints: Constraint[] = [
    ...entity.foreignKeys.map((key) => ({
      kind: 'f',
      refersTo: key.referencedEntityMetadata.tablePath,
      columns: names(key.columns),
    })),
    { kind: 'p', refersTo: '-', columns: primary },
    ...uniques
      // The primary key already makes the columns of a one-to-one relation unique.
      .filter((unique) => unique.join() !== primary.join())
      .map((unique) => ({ kind: 'u', refersTo: '-', columns: unique })),
  ];
  return { columns: columns.sort((a, b) => (a.name < b.name ? -1 : 1)), constraints };
}

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
afterAll(() => test.drop());

describe('the schema', () => {
  it.each(entities.map((entity) => [entity.name, entity] as const))(
    'has the table of %s as the entity says',
    async (_name, entity) => {
      const metadata = database.dataSource.getMetadata(entity);
      expect(await tableOf(database, metadata.tablePath)).toEqual(
        expectedTable(database.dataSource, metadata),
      );
    },
  );

  it('has no table that is neither an entity nor written by hand for a reason', async () => {
    const tables = await database.query<{ name: string }>(
      {
        text: `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
      },
      [SCHEMAS],
    );
    const ofEntities = database.dataSource.entityMetadatas.map(({ tablePath }) => tablePath);
    expect(tables.map(({ name }) => name).sort()).toEqual(
      [...ofEntities, ...Object.keys(BY_HAND)].sort(),
    );
  });
});
