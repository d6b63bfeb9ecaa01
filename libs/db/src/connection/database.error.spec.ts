import { expect, it } from '@jest/globals';
import { databaseError } from './database.error.js';

it.each([
  ['53100', 'The database has no space left on its disk (53100)'],
  ['53300', 'The database has no connections left (53300)'],
  ['57P03', 'The database accepts no connections yet: it starts or shuts down (57P03)'],
  ['40001', 'The database could not serialize a transaction (40001)'],
  ['08006', 'The database did not answer (08006)'],
])('says what the server means by %s', (code, message) => {
  const error = Object.assign(new Error('as the server has it'), { code, severity: 'ERROR' });
  expect(databaseError(error)).toMatchObject({ code: 'DATABASE_UNAVAILABLE', message });
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
