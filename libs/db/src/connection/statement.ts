import { type Pool, type PoolClient } from 'pg';

export interface Statement {
  /** The server parses and plans a named statement once per connection; without a name, each time. */
  readonly name?: string;
  readonly text: string;
  /** What `named` has bound to it. */
  readonly values?: unknown[];
}

export type Values = readonly unknown[];

/** The rows of a prepared statement, on a connection of a transaction or on whichever is free. @throws what pg throws */
export async function run<R extends object>(
  on: Pool | PoolClient,
  statement: Statement,
  values: Values = statement.values ?? [],
): Promise<R[]> {
  const { rows } = await on.query<R>({ ...statement, values: [...values] });
  return rows;
}
