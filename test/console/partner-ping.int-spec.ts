/**
 * Tests that the page's ping of a partner follows the service's rule: private addresses only with
 * ALLOW_PRIVATE_PARTNERS.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type PingBody } from '../../apps/console/src/operate/partners/partner.bodies.js';
import { OPERATOR } from '../../apps/console/src/testing/console-harness.support.js';
import { CallbackStore } from '#libs/db';
import { hashApiKey, KeyRing } from '#libs/signing';
import { FakePartner } from '#libs/testing/partner';
import { bodyOf, DeskBench } from './desk.support.js';

const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7';
const [KEY, SECRET] = ['pk-live-7Qm2-callback-key', 'the-secret-of-the-game'];
const BALANCE = JSON.stringify({
  ...{ success: true, partnerUserId: 'player-1', address: WALLET, points: 4200, chain: 'local' },
});

let game: FakePartner;
beforeAll(async () => {
  game = await FakePartner.start(SECRET, '/game');
  game.behave = () => ({ body: BALANCE });
});
afterAll(() => game.stop());

/** Runs `look` with a function that pings a partner at a private address. */
async function pinged<T>(
  settings: Record<string, string>,
  look: (ask: (more?: object) => Promise<Response>) => Promise<T>,
): Promise<T> {
  const bench = await DeskBench.start(settings);
  try {
    const partner = await bench.game('Local');
    const secretCiphertext = KeyRing.parse(bench.secretsKey).seal(SECRET, hashApiKey(KEY));
    const callback = { url: game.url, key: KEY, confirms: true, capabilities: [] };
    await new CallbackStore(bench.console.database).change(partner, () => ({
      ...{ ...callback, secretCiphertext, usdPerPoint: { digits: 1n, scale: 2 } },
    }));
    const operator = await bench.console.signedIn(OPERATOR);
    const path = `/api/operate/partners/${partner}/ping`;
    return await look((more = {}) => operator.post(path, { address: WALLET, ...more }));
  } finally {
    await bench.stop();
  }
}

it('a private address is called where the service calls it', async () => {
  const calls = game.calls.length;
  const body = await pinged({ ALLOW_PRIVATE_PARTNERS: 'true' }, (ask) => bodyOf<PingBody>(ask()));
  expect(body).toMatchObject({ good: true, outcome: '4200 points, player player-1, chain local' });
  expect(game.calls).toHaveLength(calls + 1);
});

it('otherwise it is not, whatever the request says, and the setting is named', async () => {
  const calls = game.calls.length;
  await pinged({}, async (ask) => {
    const body = await bodyOf<PingBody>(ask());
    expect(body).toMatchObject({ good: false });
    expect(body.outcome).toMatch(/^nothing-sent/);
    expect(body.mend).toContain('ALLOW_PRIVATE_PARTNERS=true for the service and the console');
    const more = await bodyOf<PingBody>(ask({ allowPrivate: true }));
    expect(more.outcome).toMatch(/^nothing-sent/);
  });
  expect(game.calls).toHaveLength(calls);
});
