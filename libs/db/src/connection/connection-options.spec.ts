import { inspect } from 'node:util';
import { expect, it } from '@jest/globals';
import { CheckedClient } from './checked-client.js';
import { connectionOptions } from './connection-options.js';

it('options and a client do not show the password that they hold', () => {
  const url = 'postgres://user:hunter2@one/db';
  const options = connectionOptions({ url, applicationName: 'test' });
  const client = new CheckedClient(options);
  expect(client.password).toBe('hunter2');
  expect(inspect({ options, client }, { depth: 9 })).not.toContain('hunter2');
});

const clientOf = (query: string): CheckedClient =>
  new CheckedClient(
    connectionOptions({ url: `postgres://u:p@one/db?${query}`, applicationName: 'test' }),
  );

it('sslrootcert=system trusts what the system trusts, and checks the name', () => {
  for (const query of ['sslmode=require&sslrootcert=system', 'sslrootcert=system']) {
    expect(clientOf(query).ssl).toEqual({});
  }
});

it.each(['statement_timeout=1', 'lock_timeout=1', 'idle_in_transaction_session_timeout=1'])(
  'the URL does not replace a time limit: %s',
  (query) => {
    const { connectionParameters: all } = clientOf(query) as unknown as {
      readonly connectionParameters: Readonly<Record<string, unknown>>;
    };
    expect(all[query.split('=')[0] ?? '']).toBe(false);
  },
);
