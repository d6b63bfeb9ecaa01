/** Compares the entities with the database. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataSource, type EntityMetadata } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Database } from './connection/database.js';
import { entities } from './migrations/create-database.js';

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
});
