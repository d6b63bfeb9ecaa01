import { finished, type Writable } from 'node:stream';
import { type PoolClient } from 'pg';
import { inChildSpan, type SpanStart } from '#libs/platform';
import { isStream, withMethods } from './client-methods.js';

interface Statement {
  readonly name?: string;
  readonly text: string;
}

/**
 * A connection with a span for each statement. The span shows the statement's name, operation or
 * table, never its parameters.
 */
export function tracedClient(client: PoolClient): PoolClient {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const traced = (...args: unknown[]): unknown => {
    const [first] = args;
    if (isStream(first)) return tracedStream(query(...args) as Writable);
    const statement = typeof first === 'string' ? { text: first } : (first as Statement);
    return inChildSpan(spanOf(statement), () => query(...args) as Promise<unknown>);
  };
  return withMethods(client, { query: traced });
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

export function spanOf({ name, text }: Statement): SpanStart {
  const operation = /^\s*([A-Za-z]{1,20})/.exec(text)?.[1]?.toUpperCase() ?? 'STATEMENT';
  // Table names as TypeORM writes them.
  const table = /(?:FROM|INTO|UPDATE) "(\w+)"\."(\w+)"/.exec(text);
  const summary = name ?? (table ? `${operation} ${table[1]}.${table[2]}` : undefined);
  return {
    name: summary ?? operation,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.summary': summary,
    },
  };
}
