/** Errors of the database, options of a connection, and named statements. */
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { databaseError } from './database.error.js';
import { CheckedClient } from './checked-client.js';
import { connectionOptions } from './connection-options.js';
import { named } from './named.js';

it.each([
  ['53100', 'The database has no space left on its disk (53100)'],
  ['53300', 'The database has no connections left (53300)'],
  ['57P03', 'The database accepts no connections yet: it starts or shuts down (57P03)'],
  ['40001', 'The database could not serialize a transaction (40001)'],
  ['08006', 'The database did not answer (08006)'],
  ['08P01', 'The database refused: as the server has it (08P01)'],
  ['58000', 'The database refused: as the server has it (58000)'],
  ['58030', 'The database refused: as the server has it (58030)'],
  ['XX000', 'The database refused: as the server has it (XX000)'],
  ['25P03', 'The database ended a transaction that was idle for too long (25P03)'],
  ['57P05', 'The database ended an idle session (57P05)'],
  [
    '42P05',
    'The database has the prepared statement of another session (42P05). If a pooler gives each transaction another session, set DATABASE_DIRECT_URL',
  ],
])('says what the server means by %s', (code, message) => {
  const error = Object.assign(new Error('as the server has it'), { code, severity: 'ERROR' });
  expect(databaseError(error)).toMatchObject({ code: 'DATABASE_UNAVAILABLE', message });
});

it('says what to do where a pooler takes no options', () => {
  const refused = new Error('unsupported startup parameter: options');
  const error = Object.assign(refused, { code: '08P01', severity: 'FATAL' });
  expect(databaseError(error).message).toContain('set DATABASE_DIRECT_URL');
});

it('does not take corrupted data for what may pass', () => {
  const error = Object.assign(new Error('invalid page'), { code: 'XX001', severity: 'ERROR' });
  expect(databaseError(error)).toMatchObject({ code: 'DATABASE_REFUSED', retryable: false });
});

it('names the file of the URL that cannot be read', () => {
  const fields = { code: 'ENOENT', syscall: 'open', path: '/certs/root.crt' };
  expect(databaseError(Object.assign(new Error('ENOENT'), fields))).toMatchObject({
    message:
      'The database cannot be asked: the file /certs/root.crt of its URL cannot be read (ENOENT)',
  });
});

it('says that nothing answers where nothing does', () => {
  const error = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(databaseError(error)).toMatchObject({
    message: 'The database did not answer (ECONNREFUSED)',
  });
});

it.each([
  [
    { code: 'EAI_AGAIN', hostname: 'db.example' },
    'The database at db.example did not answer (EAI_AGAIN)',
  ],
  [
    { code: 'ECONNREFUSED', address: '10.0.0.9', port: 5432 },
    'The database at 10.0.0.9:5432 did not answer (ECONNREFUSED)',
  ],
])('names the server that a network error names', (fields, message) => {
  expect(databaseError(Object.assign(new Error('connect'), fields))).toMatchObject({ message });
});

it.each(['28P01', '28000'])('may pass where the login is refused with %s', (code) => {
  const cause = new Error('password authentication failed for user "lowmark_api"');
  const error = Object.assign(cause, { code, severity: 'FATAL' });
  expect(databaseError(error)).toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
    retryable: true,
    sqlState: code,
    message: `The database refuses the login (${code}): ${cause.message}. After a new password, restart this program`,
  });
});

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

describe('named', () => {
  it('numbers parameters in the order in which they come, each once', () => {
    const find = named<{ wallet: string; day: number }>(
      'find',
      "SELECT to_char(at, 'HH24:MI'), :day::int FROM t WHERE wallet = :wallet AND day <= :day",
    );
    expect(find({ wallet: '0xa', day: 3 })).toEqual({
      name: 'find',
      text: "SELECT to_char(at, 'HH24:MI'), $1::int FROM t WHERE wallet = $2 AND day <= $1",
      values: [3, '0xa'],
    });
  });

  it('takes null, and refuses a value that is missing', () => {
    const note = named<{ note: string | null | undefined }>('note', 'SELECT :note');
    expect(note({ note: null }).values).toEqual([null]);
    expect(() => note({ note: undefined })).toThrow('note: note is missing');
  });
});
