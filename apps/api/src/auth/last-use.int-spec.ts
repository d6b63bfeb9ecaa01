import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { PartnerStore } from '#libs/db';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  type Api,
  seconds,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';

let api: Api;
beforeEach(async () => {
  api = await startApi();
  await seedIndex(api, {
    events: [['2026-11-10T10:00:00Z', aWallet(1), 1]],
    headAt: '2026-11-21T12:00:00Z',
  });
});
afterEach(() => api.stop());

async function lastUsed(name: string): Promise<Date | null | undefined> {
  const partners = await new PartnerStore(await api.database.open()).list();
  return partners.find(({ partnerName }) => partnerName === name)?.credentials[0]?.lastUsedAt;
}

describe('the use of a credential', () => {
  it('is noted by the API, for the partner that called', async () => {
    const { apiKey } = await addPartner(api, 'caller');
    await addPartner(api, 'silent');
    const path = `/api/staking/snapshots?walletAddress=${aWallet(1)}`;
    await request(api.url).get(path).set('X-API-KEY', apiKey).expect(200);
    while ((await lastUsed('caller')) === null) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await lastUsed('caller'))?.getTime()).toBeGreaterThan(seconds('2026-01-01') * 1000);
    expect(await lastUsed('silent')).toBeNull();
  });

  it('is in nobody’s way where it cannot be noted', async () => {
    const { apiKey } = await addPartner(api, 'caller');
    const database = await api.database.open();
    await database.query({
      text: 'REVOKE EXECUTE ON FUNCTION partners.note_use FROM lowmark_reader',
    });
    const path = `/api/staking/snapshots?walletAddress=${aWallet(1)}`;
    await request(api.url).get(path).set('X-API-KEY', apiKey).expect(200);
    await request(api.url).get(path).set('X-API-KEY', apiKey).expect(200);
    expect(await lastUsed('caller')).toBeNull();
    expect(api.logs.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([]);
  });
});
