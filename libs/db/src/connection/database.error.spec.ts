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
