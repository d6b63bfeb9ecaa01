import { type Database, type Statement } from '../connection/database.js';
import { privilegesOf } from './grant-rights.js';
import { type Program, TABLES } from './rights.js';

const MISSING: Statement = {
  name: 'rights_missing',
  text: `SELECT w."table", array_agg(w.privilege ORDER BY 1) AS privileges
    FROM unnest($1::text[], $2::text[]) AS w("table", privilege)
    WHERE to_regclass(w."table") IS NOT NULL AND NOT has_table_privilege(session_user, to_regclass(w."table"), w.privilege)
    GROUP BY 1 ORDER BY 1`,
};

/**
 * What the user who logged in cannot do of that which rights.ts gives its program; empty where nothing. A table that is not there is
 * said by the check of the schema.
 * @throws DatabaseUnavailableError, DatabaseRefusedError
 */
export async function missingRights(database: Database, program: Program): Promise<string[]> {
  const wanted = TABLES.flatMap((table) =>
    privilegesOf(program, table).map((privilege) => ({ table, privilege })),
  );
  const rows = await database.query<{ table: string; privileges: string[] }>(MISSING, [
    wanted.map(({ table }) => table),
    wanted.map(({ privilege }) => privilege),
  ]);
  return rows.map(({ table, privileges }) => `${privileges.join(', ')} on ${table}`);
}
