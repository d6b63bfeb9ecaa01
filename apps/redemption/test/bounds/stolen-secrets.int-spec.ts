/**
 * What a thief gains from SECRETS_KEY together with the database. The budgets are the limit, and they do not depend on
 * Redis.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseDecimal } from '#libs/domain';
import { hashApiKey, KeyRing } from '#libs/signing';
import { CALLBACK_KEY, CALLBACK_SECRET } from '#libs/testing/partner';
import {
  addPartner,
  addPrice,
  aPlayer,
  SECRETS_KEY,
  type Service,
  startService,
} from '../../src/testing/redemption-harness.support.js';
import { settledAsClaimed, takeAll, tokens } from './bounds.support.js';

const BUDGET = 1000;
const OF_PARTNER = 1500;
const POINTS = 5000;
const ALL = 10 ** 6;

let service: Service;
beforeAll(async () => {
  service = await startService({ WALLET_DAILY_TOKEN_BUDGET: String(BUDGET) });
  await addPartner(service, 'Arena', { dailyTokenBudget: parseDecimal(String(OF_PARTNER)) });
  await addPrice(service);
});
afterAll(() => service.stop());

describe('the thief of SECRETS_KEY and of a backup', () => {
  it('has the partners’ secrets, and by answers in a partner’s place that partner’s budget of the day', async () => {
    const backup = await service.database.open();
    const [row] = await backup.query<{ secret_ciphertext: Buffer; key: string }>({
      text: 'SELECT secret_ciphertext, key FROM partners.callback',
    });
    const sealed = row?.secret_ciphertext ?? Buffer.alloc(0);
    const key = row?.key ?? '';
    expect(key).toBe(CALLBACK_KEY);
    const other = KeyRing.parse(Buffer.alloc(32, 8).toString('base64'));
    expect(() => other.open(sealed, hashApiKey(key))).toThrow();
    const secret = KeyRing.parse(SECRETS_KEY).open(sealed, hashApiKey(key));
    // The test's game signs its answers with this secret, and so can the thief.
    expect(secret).toBe(CALLBACK_SECRET);

    const ends: string[] = [];
    for (let wallet = 0; wallet < 3; wallet++) {
      // The forged answer can name any number of points.
      const user = await aPlayer(service, Number.MAX_SAFE_INTEGER);
      const settled = settledAsClaimed(service);
      ends.push(await takeAll(service, user, { points: POINTS, settled }));
    }
    expect(ends).toEqual(['WALLET_BUDGET_SPENT', 'PARTNER_BUDGET_SPENT', 'PARTNER_BUDGET_SPENT']);
    const paid = tokens(ALL) - (await service.bench.tokens(service.bench.vault));
    expect(paid).toBeLessThanOrEqual(tokens(OF_PARTNER));
    expect(paid).toBeGreaterThan(tokens(OF_PARTNER - 334));
  });
});
