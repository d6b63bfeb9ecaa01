import { finished, type Writable } from 'node:stream';
import { type PoolClient, type QueryResultRow } from 'pg';
import { inChildSpan, type SpanStart, tracingIsOn } from '#libs/platform';

interface Statement {
  readonly name?: string;
  readonly text: string;
}

type Work<T> = (client: PoolClient) => Promise<T>;

interface Statements {
  query<R extends QueryResultRow>(statement: Statement, values?: readonly unknown[]): Promise<R[]>;
  transaction<T>(work: Work<T>): Promise<T>;
}

/**
 * The database itself, with a span for each statement and each transaction that belongs to an open span. Only the name and the first
 * word of a statement are told, never its parameters. Where traces are off nothing is changed.
 */
export function traceStatements<D extends Statements>(database: D): D {
  if (!tracingIsOn()) return database;
  const query = database.query.bind(database);
  const transaction = database.transaction.bind(database);
  const traced: Statements = {
    query: (statement, values) => inChildSpan(spanOf(statement), () => query(statement, values)),
    transaction: (work) =>
      inChildSpan(spanOf({ text: 'TRANSACTION' }), () =>
        transaction((client) => work(tracedClient(client))),
      ),
  };
  return Object.assign(database, traced);
}

/** The same connection, seen through its statements. */
function tracedClient(client: PoolClient): PoolClient {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const traced = (...args: unknown[]): unknown => {
    const [first] = args;
    if (isStream(first)) return tracedStream(query(...args) as Writable);
    const statement = typeof first === 'string' ? { text: first } : (first as Statement);
    return inChildSpan(spanOf(statement), () => query(...args) as Promise<unknown>);
  };
  return new Proxy(client, {
    get: (target, key) => {
      if (key === 'query') return traced;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function tracedStream(stream: Writable): Writable {
  void inChildSpan(
    spanOf({ text: 'COPY' }),
    (span) =>
      new Promise<void>((resolve) => {
        finished(stream, (error) => {
          if (error) span.fail(error.name);
          resolve();
        });
      }),
  );
  return stream;
}

function isStream(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'submit' in value;
}

function spanOf({ name, text }: Statement): SpanStart {
  const operation = /^\s*([A-Za-z]{1,20})/.exec(text)?.[1]?.toUpperCase() ?? 'STATEMENT';
  return {
    name: name ?? operation,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.summary': name,
    },
  };
}
