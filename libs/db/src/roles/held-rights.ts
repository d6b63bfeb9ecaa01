/** Compares the rights of a program's database user with rights.ts: excess rights and missing rights. */
import { type PoolClient } from 'pg';
import { PermanentError } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { isNewerSchema } from '../migrations/schema-check.js';
import { privilegesOf } from './grant-rights.js';
import {
  isKnownTable,
  PRIVILEGES,
  type Program,
  PROGRAM_ROLES,
  REFUSED_PRIVILEGES,
  readSchemas,
  tablesOf,
} from './rights.js';

export class ExcessRightsError extends PermanentError {
  constructor(program: Program, excess: readonly string[]) {
    super('DATABASE_RIGHTS_EXCESSIVE', excessText(program, excess));
  }
}

function excessText(program: Program, excess: readonly string[]): string {
  return (
    `The user of DATABASE_URL has more rights than the ${program} needs: ${excess.join('; ')}. Give the ${program} a user of its own: ` +
    `see docs/operating/install.md#database-users.`
  );
}

// Reads all roles of the user who logged in, because its sessions can take any of them by SET ROLE, RESET
// ROLE or their options.
const ATTRIBUTES = named<{ schemas: readonly string[]; name: string | null }>(
  'rights_attributes',
  `SELECT u.rolname AS name, u.rolsuper AS superuser, u.rolcreaterole AS createrole, u.rolreplication AS replication,
      u.rolcreatedb AS createdb, u.rolbypassrls AS bypassrls,
      ARRAY(SELECT DISTINCT pg_get_userbyid(o.owner)::text FROM (
          SELECT nspowner AS owner FROM pg_namespace WHERE nspname = ANY (:schemas)
          UNION SELECT c.relowner FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ANY (:schemas)
          UNION SELECT p.proowner FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = ANY (:schemas)
          UNION SELECT datdba FROM pg_database WHERE datname = current_database()) o
        WHERE pg_has_role(u.oid, o.owner, 'MEMBER') ORDER BY 1) AS owners,
      ARRAY(SELECT r.rolname::text FROM pg_roles r WHERE r.oid <> u.oid AND pg_has_role(u.oid, r.oid, 'MEMBER') ORDER BY 1) AS roles,
      ARRAY(SELECT nspname::text FROM pg_namespace
        WHERE nspname !~ '^pg_(toast|temp)' AND has_schema_privilege(u.oid, oid, 'CREATE') ORDER BY 1) AS "createsIn",
      has_database_privilege(u.oid, current_database(), 'CREATE') AS "createsSchemas",
      has_parameter_privilege(u.oid, 'session_replication_role', 'SET') AS "disablesTriggers"
    FROM pg_roles u WHERE u.rolname = coalesce(:name::name, session_user)`,
);

const PRIVILEGE_LIST = [...Object.values(PRIVILEGES), ...REFUSED_PRIVILEGES];

interface TablesOf {
  readonly schemas: readonly string[];
  readonly privileges: readonly string[];
  readonly name: string | null;
}

const TABLES_USED = named<TablesOf>(
  'rights_tables',
  `SELECT format('%I.%I', n.nspname, c.relname) AS "table",
      ARRAY(SELECT p FROM unnest(:privileges::text[]) AS p WHERE has_table_privilege(coalesce(:name::name, session_user), c.oid, p)
        OR (p IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') AND has_any_column_privilege(coalesce(:name::name, session_user), c.oid, p))) AS privileges
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY (:schemas) AND c.relkind IN ('r', 'p', 'v', 'm') ORDER BY 1`,
);

const MISSING = named<{ tables: readonly string[]; privileges: readonly string[] }>(
  'rights_missing',
  `SELECT w."table", array_agg(w.privilege ORDER BY 1) AS privileges
    FROM unnest(:tables::text[], :privileges::text[]) AS w("table", privilege)
    WHERE to_regclass(w."table") IS NOT NULL AND NOT has_table_privilege(session_user, to_regclass(w."table"), w.privilege)
    GROUP BY 1 ORDER BY 1`,
);

interface TableRights {
  readonly table: string;
  readonly privileges: string[];
}

interface Attributes {
  readonly name: string;
  readonly superuser: boolean;
  readonly createrole: boolean;
  readonly replication: boolean;
  readonly createdb: boolean;
  readonly bypassrls: boolean;
  readonly owners: string[];
  readonly roles: string[];
  readonly createsIn: string[];
  readonly createsSchemas: boolean;
  readonly disablesTriggers: boolean;
}

/**
 * Rights of the user who logged in beyond those that rights.ts gives its program, whichever role its sessions take.
 * Empty where there are none. On a schema that a newer version migrated, tables that this version does not know are
 * left out, because only the newer version knows who uses them.
 */
export async function excessRights(database: Database, program: Program): Promise<string[]> {
  const query: Query = (statement) => database.query(statement);
  return excessOf(query, program, { isNewer: await isNewerSchema(database) });
}

/** Like `excessRights`, for a user by name and within a transaction. */
export function excessRightsOf(
  client: PoolClient,
  program: Program,
  { user, isNewer }: { readonly user: string; readonly isNewer: boolean },
): Promise<string[]> {
  return excessOf((statement) => run(client, statement), program, { name: user, isNewer });
}

type Query = <R extends object>(statement: Statement) => Promise<R[]>;

async function excessOf(
  query: Query,
  program: Program,
  { name = null, isNewer }: { readonly name?: string | null; readonly isNewer: boolean },
): Promise<string[]> {
  const schemas = await readSchemas(query);
  const [user] = await query<Attributes>(ATTRIBUTES({ schemas, name }));
  if (user === undefined) throw new TypeError('the user of a session is a role');
  // A superuser has all other excess rights as well.
  if (user.superuser) return [`${user.name} is a superuser`];
  const tables = await query<TableRights>(
    TABLES_USED({ schemas, privileges: PRIVILEGE_LIST, name }),
  );
  return [
    ...ofAttributes(user, program),
    ...tables.flatMap(({ table, privileges }) => {
      if (isNewer && !isKnownTable(table)) return [];
      const allowed = privilegesOf(program, table);
      const more = privileges.filter((one) => !allowed.includes(one));
      return more.length === 0 ? [] : [`${more.join(', ')} on ${table}`];
    }),
  ];
}

function ofAttributes(user: Attributes, program: Program): string[] {
  const { name, owners, createsIn } = user;
  const others = user.roles.filter(
    (role) => role !== PROGRAM_ROLES[program] && !owners.includes(role),
  );
  const attributes = (['createrole', 'createdb', 'replication', 'bypassrls'] as const).filter(
    (attribute) => user[attribute],
  );
  return [
    ...owners.map((owner) =>
      owner === name
        ? `${name} owns the database, a schema or tables`
        : `${name} is a member of the owner ${owner}`,
    ),
    ...attributes.map((attribute) => `${name} is ${attribute.toUpperCase()}`),
    ...others.map((role) => `${name} is a member of ${role}`),
    ...createsIn.map((schema) => `CREATE on schema ${schema}`),
    ...(user.createsSchemas ? ['CREATE on the database'] : []),
    ...(user.disablesTriggers ? ['may set session_replication_role'] : []),
  ];
}

/**
 * Refuses a credential with more rights than its program needs in production, and only reports it elsewhere.
 * @param onExcess called with a message where the credential is not refused
 * @throws ExcessRightsError, DatabaseUnavailableError, DatabaseRefusedError
 */
export async function requireOwnRights(
  database: Database,
  program: Program,
  { isProduction, onExcess }: { isProduction: boolean; onExcess: (message: string) => void },
): Promise<void> {
  const excess = await excessRights(database, program);
  if (excess.length === 0) return;
  if (isProduction) throw new ExcessRightsError(program, excess);
  onExcess(excessText(program, excess));
}

/**
 * Rights in rights.ts that the user who logged in does not have; empty where there are none. Missing tables are left
 * out, because the check of the schema reports them.
 */
export async function missingRights(database: Database, program: Program): Promise<string[]> {
  const schemas = await readSchemas((statement) => database.query(statement));
  const wanted = schemas
    .flatMap(tablesOf)
    .flatMap((table) => privilegesOf(program, table).map((privilege) => ({ table, privilege })));
  const rows = await database.query<TableRights & object>(
    MISSING({
      tables: wanted.map(({ table }) => table),
      privileges: wanted.map(({ privilege }) => privilege),
    }),
  );
  return rows.map(({ table, privileges }) => `${privileges.join(', ')} on ${table}`);
}
