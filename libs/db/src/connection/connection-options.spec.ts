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
