/** What a check has found to be wrong is not answered, from the commit of the finding to that of the repair. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { clearFindings, type Database, recordFinding, SealedDayStore } from '#libs/db';
import { aWallet } from '#libs/testing/database';
import { addPartner, type Api, seedIndex, startApi } from '../testing/api-harness.support.js';

const [WRONG, RIGHT] = [aWallet(1), aWallet(2)];
let api: Api;
let apiKey: string;
let database: Database;

beforeAll(async () => {
  api = await startApi();
  ({ apiKey } = await addPartner(api, 'game'));
  await seedIndex(api, {
    events: [
      ['2026-11-10T08:00:00Z', WRONG, 5],
      ['2026-11-10T09:00:00Z', RIGHT, 7],
    ],
    headAt: '2026-11-21T12:00:00Z',
  });
  database = await api.database.open();
});
afterAll(() => api.stop());
beforeEach(() => clearFindings(database, 'all'));

async function statusOf(path: string, body?: object): Promise<number> {
  const answer = await fetch(`${api.url}/api/staking/${path}`, {
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status === 503) {
    expect(JSON.parse(text)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(answer.headers.get('retry-after')).toBe('60');
    expect(answer.headers.get('x-api-signature')).toMatch(/^[0-9a-f]{64}$/);
  }
  return answer.status;
}

const snapshot = (wallet: string): Promise<number> =>
  statusOf(`snapshots?walletAddress=${wallet}&lastDays=7`);
const history = (wallet: string): Promise<number> => statusOf(`history?walletAddress=${wallet}`);
const batch = (...walletAddresses: string[]): Promise<number> =>
  statusOf('snapshots/batch', { walletAddresses, lastDays: 7 });

describe('what is known to be wrong', () => {
  it('is not answered, also if it is cached, and the rest is', async () => {
    for (const wallet of [WRONG, RIGHT]) expect(await snapshot(wallet)).toBe(200);
    expect(await batch(WRONG, RIGHT)).toBe(200);
    await recordFinding(database, [WRONG], 'test');
    expect(await snapshot(WRONG)).toBe(503);
    expect(await history(WRONG)).toBe(503);
    expect(await batch(WRONG, RIGHT)).toBe(503);
    expect(await snapshot(RIGHT)).toBe(200);
    expect(await history(RIGHT)).toBe(200);
    expect(await batch(RIGHT)).toBe(200);
    await clearFindings(database, [WRONG]);
    expect(await snapshot(WRONG)).toBe(200);
  });

  it('is every wallet while only a sum is known to differ', async () => {
    await recordFinding(database, 'all', 'test');
    for (const wallet of [WRONG, RIGHT, aWallet(9)]) expect(await snapshot(wallet)).toBe(503);
    await clearFindings(database, [WRONG]);
    expect(await snapshot(RIGHT)).toBe(503);
    await clearFindings(database, 'all');
    expect(await snapshot(RIGHT)).toBe(200);
  });

  it('is a sealed day while any wallet is wrong, and after the repair until it is worked out again', async () => {
    const days = new SealedDayStore(database);
    expect(await days.firstDoubtful([5, 6])).toBeUndefined();
    await database.query({ text: 'INSERT INTO staking.doubtful_day VALUES (6)' });
    expect(await days.firstDoubtful([5, 6])).toBe(6);
    expect(await days.firstDoubtful([5])).toBeUndefined();
    await recordFinding(database, [WRONG], 'test');
    expect(await days.firstDoubtful([5])).toBe(5);
  });
});
