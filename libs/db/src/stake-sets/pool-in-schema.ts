/** Connections that send the SQL of the default stake set as SQL of another set. */
import { type Pool, type PoolClient } from 'pg';
import { isStream, withMethods } from '../connection/client-methods.js';
import { sqlInSchema } from './stake-set.js';

interface NamedStatement {
  readonly name?: string;
  readonly text: string;
}

type Query = (...args: unknown[]) => unknown;

/** The pool itself is shared: the same connections also serve other stake sets. */
export function poolInSchema(pool: Pool, schema: string): Pool {
  const inSchema = new StatementsInSchema(schema);
  const query = inSchema.sending(pool.query.bind(pool));
  const connect = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    return withMethods(client, { query: inSchema.sending(client.query.bind(client) as Query) });
  };
  return withMethods(pool, { query, connect });
}

class StatementsInSchema {
  /**
   * The translated statements that have a name, by their text. They are few, because they are constants of the program.
   */
  private readonly prepared = new Map<string, NamedStatement>();

  constructor(private readonly schema: string) {}

  sending(query: Query): Query {
    return (first, ...rest) => query(this.translated(first), ...rest);
  }

  private translated(first: unknown): unknown {
    if (typeof first === 'string') return sqlInSchema(first, this.schema);
    const statement = first as NamedStatement;
    if (isStream(first)) return Object.assign(first, this.statement(statement));
    return { ...statement, ...this.statement(statement) };
  }

  /** On a connection a name stands for one text, so a translated statement needs a name of its own. */
  private statement({ name, text }: NamedStatement): NamedStatement {
    if (name === undefined) return { text: sqlInSchema(text, this.schema) };
    let translated = this.prepared.get(text);
    if (translated === undefined) {
      translated = { name: `${name} ${this.schema}`, text: sqlInSchema(text, this.schema) };
      this.prepared.set(text, translated);
    }
    return translated;
  }
}
