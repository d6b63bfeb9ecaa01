import { type Database, type Statement } from '#libs/db';

/** Runs one statement inside the transaction. */
export type Query = <R extends object>(
  statement: Statement,
  values: readonly unknown[],
) => Promise<R[]>;

/**
 * Runs the work in one transaction; an error undoes all of it. All transactions lock in the same order: deduction, then
 * player.
 */
export function inTransaction<T>(
  database: Database,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  return database.transaction((client) =>
    work(async <R extends object>(statement: Statement, values: readonly unknown[]) => {
      const { rows } = await client.query<R>({ ...statement, values: [...values] });
      return rows;
    }),
  );
}
