import { type PoolClient } from 'pg';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { isNewerSchema } from '../migrations/schema-check.js';
import {
  isKnownTable,
  PRIVILEGES,
  type Program,
  PROGRAM_ROLES,
  PROGRAMS,
  rightsOf,
  usesSchema,
  readSchemas,
} from './rights.js';

/**
 * Creates the roles that hold the programs' rights, as far as this user may. Roles belong to the whole server, so
 * another database may create the same role at the same time.
 */
const MAKE_ROLES = `DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['${Object.values(PROGRAM_ROLES).join("', '")}'] LOOP
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN CONTINUE; END IF;
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', role);
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN NULL;
      WHEN insufficient_privilege THEN NULL;
    END;
  END LOOP;
END $$`;

/**
 * Takes from PUBLIC the right to create temporary tables, which every user has by default and which can fill the disk.
 * Only the owner of the database can do this; where another user migrates, an administrator follows
 * docs/operating/install.md#database-users.
 */
const TAKE_TEMPORARY = `DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
      WHERE d.datname = current_database() AND a.grantee = 0 AND a.privilege_type = 'TEMPORARY'
        AND pg_has_role(d.datdba, 'USAGE')) THEN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  END IF;
END $$`;

const THERE = named<{ roles: readonly string[] }>(
  'roles_there',
  'SELECT rolname AS role FROM pg_roles WHERE rolname = ANY (:roles)',
);

interface SchemasAndRoles {
  readonly schemas: readonly string[];
  readonly roles: readonly string[];
}

/** Privileges of each role on each table, then on single columns; an empty list where nothing was granted. */
const GRANTED = named<SchemasAndRoles>(
  'rights_granted',
  `SELECT format('%I.%I', n.nspname, c.relname) AS "table", r.rolname AS role,
      ARRAY(SELECT upper(a.privilege_type) FROM aclexplode(c.relacl) a WHERE a.grantee = r.oid ORDER BY 1)
        || ARRAY(SELECT a.privilege_type || ' of ' || t.attname FROM pg_attribute t, aclexplode(t.attacl) a
          WHERE t.attrelid = c.oid AND a.grantee = r.oid ORDER BY 1) AS privileges
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN pg_roles r
    WHERE n.nspname = ANY (:schemas) AND c.relkind IN ('r', 'p', 'v', 'm') AND r.rolname = ANY (:roles)`,
);

const SCHEMA_USERS = named<SchemasAndRoles>(
  'schema_users',
  `SELECT n.nspname AS schema, r.rolname AS role, has_schema_privilege(r.oid, n.oid, 'USAGE') AS uses
    FROM pg_namespace n CROSS JOIN pg_roles r WHERE n.nspname = ANY (:schemas) AND r.rolname = ANY (:roles)`,
);

interface GrantedRow {
  readonly table: string;
  readonly role: string;
  readonly privileges: string[];
}

/**
 * Gives every program's role the rights in rights.ts and takes all others. Writes nothing where the rights are correct.
 * On a schema that a newer version migrated, tables that this version does not know stay as they are.
 * @returns the roles that do not exist because this user may not create them
 */
export async function grantRights(database: Database): Promise<string[]> {
  const isNewer = await isNewerSchema(database);
  return database.transaction(async (client) => {
    await client.query(MAKE_ROLES);
    await client.query(TAKE_TEMPORARY);
    const roles = Object.values(PROGRAM_ROLES);
    const there = (await run<{ role: string }>(client, THERE({ roles }))).map(({ role }) => role);
    const programs = PROGRAMS.filter((program) => there.includes(PROGRAM_ROLES[program]));
    for (const statement of await missingStatements(client, programs, isNewer)) {
      await client.query(statement);
    }
    return roles.filter((role) => !there.includes(role));
  });
}

async function missingStatements(
  client: PoolClient,
  programs: readonly Program[],
  isNewer: boolean,
): Promise<string[]> {
  const roles = programs.map((program) => PROGRAM_ROLES[program]);
  const schemas = await readSchemas((statement) => run(client, statement));
  const granted = await run<GrantedRow>(client, GRANTED({ schemas, roles }));
  type SchemaUser = { schema: string; role: string; uses: boolean };
  const users = await run<SchemaUser>(client, SCHEMA_USERS({ schemas, roles }));
  return programs.flatMap((program) => {
    const role = PROGRAM_ROLES[program];
    const ofSchemas = users
      .filter((one) => one.role === role && one.uses !== usesSchema(program, one.schema))
      .filter(({ uses }) => !(isNewer && uses))
      .map(({ schema, uses }) =>
        uses
          ? `REVOKE USAGE ON SCHEMA ${schema} FROM ${role}`
          : `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
      );
    const ofTables = granted
      .filter((one) => one.role === role && !(isNewer && !isKnownTable(one.table)))
      .flatMap((one) => tableStatements(one, privilegesOf(program, one.table)));
    return [...ofSchemas, ...ofTables];
  });
}

function tableStatements({ table, role, privileges }: GrantedRow, wanted: string[]): string[] {
  if (wanted.join() === privileges.join()) return [];
  const given = wanted.length === 0 ? [] : [`GRANT ${wanted.join(', ')} ON ${table} TO ${role}`];
  // REVOKE ALL also takes privileges on single columns.
  return [`REVOKE ALL ON ${table} FROM ${role}`, ...given];
}

/** Sorted in the order of the server's answer. */
export function privilegesOf(program: Program, table: string): string[] {
  return rightsOf(program, table)
    .map((letter) => PRIVILEGES[letter])
    .sort();
}
