import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { AuditLog, CONSOLE_ACTOR, type Database, SIGN_IN_COMMAND, SignInLog } from '../index.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const HOUR_MS = 3_600_000;

let test: TestDatabase;
let database: Database;
let log: SignInLog;
// Each test has its own database, because audit rows are never removed.
beforeEach(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 10 });
  log = new SignInLog(database);
});
afterEach(() => test.drop());

const refuse = (from: string, atMs = NOW_MS, unnoted = 0, network = from) =>
  log.noteRefused({ by: 'wallet', from, network, code: 'NOT_AN_OPERATOR', unnoted }, atMs);
const rows = async () => (await new AuditLog(database).newest({}, { limit: 100 })).entries;

describe('SignInLog', () => {
  it('notes who signed in, how and from where', async () => {
    await log.note('operator:ann', { by: 'oidc', from: '2001:db8::1', role: 'admin' });
    expect(await rows()).toMatchObject([
      {
        ...{ actor: 'operator:ann', command: SIGN_IN_COMMAND, outcome: 'done' },
        arguments: { by: 'oidc', from: '2001:db8::1', role: 'admin' },
      },
    ]);
  });

  it('notes five refused ones of an address in an hour, and says how many there were besides', async () => {
    for (let count = 0; count < 5; count++) expect(await refuse('10.0.0.1')).toBe(true);
    expect(await refuse('10.0.0.1')).toBe(false);
    expect(await refuse('10.0.0.2')).toBe(true);
    expect(await refuse('10.0.0.1', NOW_MS + HOUR_MS, 7)).toBe(true);
    const found = await rows();
    expect(found).toHaveLength(7);
    expect(found[0]).toMatchObject({
      ...{ actor: CONSOLE_ACTOR, outcome: 'refused: NOT_AN_OPERATOR' },
      arguments: { by: 'wallet', from: '10.0.0.1', unnoted: 7 },
    });
    expect(found[1]?.arguments).not.toHaveProperty('unnoted');
  });

  it('counts all addresses of a network as one', async () => {
    const noted: boolean[] = [];
    for (let host = 1; host <= 40; host++) {
      noted.push(await refuse(`2001:db8::${host}`, NOW_MS, 0, '2001:db8:0:0::/64'));
    }
    expect(noted.filter(Boolean)).toHaveLength(5);
    expect(await refuse('10.0.0.1')).toBe(true);
    expect((await rows()).map((row) => row.arguments)).toEqual([
      { by: 'wallet', from: '10.0.0.1' },
      ...[5, 4, 3, 2, 1].map((host) => ({
        ...{ by: 'wallet', from: `2001:db8::${host}`, network: '2001:db8:0:0::/64' },
      })),
    ]);
  });

  it('notes thirty refused ones in an hour, however many strangers come at once', async () => {
    const strangers = Array.from({ length: 100 }, (_, place) => `10.1.0.${place}`);
    const noted = await Promise.all(strangers.map((from) => refuse(from)));
    expect(noted.filter(Boolean)).toHaveLength(30);
    expect(await rows()).toHaveLength(30);
    await log.note('operator:ann', { by: 'wallet', from: '10.0.0.9', role: 'viewer' });
    expect(await refuse('10.2.0.1', NOW_MS + HOUR_MS - 1)).toBe(false);
    expect(await refuse('10.2.0.1', NOW_MS + HOUR_MS)).toBe(true);
  });
});
