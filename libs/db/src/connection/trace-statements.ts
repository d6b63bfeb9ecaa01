/** Spans of statements. They show a statement's name, operation or table, never its parameters. */
import { finished, type Writable } from 'node:stream';
import { inChildSpan, type SpanStart } from '#libs/platform';
import { type Statement } from './named.js';

/** Lasts until the stream ends. */
export function traceCopy(stream: Writable): void {
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
