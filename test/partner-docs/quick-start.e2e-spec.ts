/**
 * Follows the quick start: runs the code of the page on the published form of the SDK, against the real API and the
 * real partner client.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Address,
  mintUuidV7,
  parseAddress,
  PARTNER_CAPABILITIES,
  type PartnerId,
  type UuidV7,
} from '#libs/domain';
import {
  type AnswerResult,
  type PartnerCall,
  PartnerClient,
  PartnerEndpoint,
} from '#libs/partner-client';
import { systemClock } from '#libs/platform';
import { type MintedCredential } from '#libs/signing';
import {
  addPartner,
  type Api,
  seedIndex,
  startApi,
} from '../../apps/api/src/testing/api-harness.support.js';
import { CliBench } from '../../apps/cli/src/testing/cli-bench.support.js';
import { GameFolder } from './game-folder.js';
import { commands } from './shell-line.js';

const PAGE = 'docs/partners/quick-start.md';
const PAGE_URL = 'http://127.0.0.1:4100/game';
const TESTER = 'node_modules/@lowmark/partner-sdk/dist/esm/conformance/main.js';
const WALLET = parseAddress('0x52908400098527886E0F7030069857D2E4169EE7') as Address;
const DAY_MS = 86_400_000;
const NOBODY = parseAddress(`0x${'0'.repeat(39)}1`) as Address;
const CALLBACK = { CALLBACK_KEY: 'a-key-of-my-game', CALLBACK_SECRET: 'a-secret-of-my-game' };

let game: GameFolder;
beforeAll(() => {
  game = GameFolder.of(PAGE);
  game.copy('docs/partners/examples/partner.ts');
});
afterAll(() => game.remove());

it('is code that compiles', async () => {
  expect(await game.typeErrors()).toBe('');
});

describe('reading a snapshot', () => {
  let api: Api;
  let partner: MintedCredential;
  beforeAll(async () => {
    api = await startApi();
    // The SDK compares the time of an answer with the clock of the system.
    const nowMs = Math.floor(Date.now() / 1000) * 1000;
    api.clock.set(nowMs);
    partner = await addPartner(api, 'my game');
    const [stakedAt, headAt] = [nowMs - 40 * DAY_MS, nowMs].map((ms) => new Date(ms).toISOString());
    const events: [string, Address, number][] = [[stakedAt ?? '', WALLET, 250]];
    await seedIndex(api, { events, headAt: headAt ?? '' });
  });
  afterAll(() => api.stop());

  const tier = (changes: Readonly<Record<string, string>> = {}): Promise<string> =>
    game.node(['tier.ts'], {
      STAKING_URL: api.url,
      STAKING_API_KEY: partner.apiKey,
      STAKING_SECRET: partner.sharedSecret,
      WALLET,
      ...changes,
    });

  it('gives the tier of a wallet that stakes', async () => {
    expect(await tier()).toBe('250 staked on average: silver\n');
  });

  it('gives the lowest tier to one that never did', async () => {
    expect(await tier({ WALLET: NOBODY })).toBe('0 staked on average: bronze\n');
  });

  it('believes nothing under another secret', async () => {
    await expect(tier({ STAKING_SECRET: `${partner.sharedSecret}x` })).rejects.toThrow(
      'SIGNATURE_INVALID',
    );
  });
});

describe('the four callbacks', () => {
  const client = new PartnerClient({ clock: systemClock, policy: { allowPrivate: true } });
  let endpoint: PartnerEndpoint;
  let url: string;
  beforeAll(async () => {
    url = `http://127.0.0.1:${await game.serve('partner.ts', { ...CALLBACK, WALLET })}/game`;
    endpoint = new PartnerEndpoint({
      partnerId: '5f0c1f0e-0000-4000-8000-000000000001' as PartnerId,
      baseUrl: url,
      apiKey: CALLBACK.CALLBACK_KEY,
      sharedSecret: CALLBACK.CALLBACK_SECRET,
    });
  });

  const redemptionId = (): UuidV7 => mintUuidV7(Date.now(), randomBytes(10));

  /** Calls the partner's endpoint. @returns the body of the answer, whose signature must verify */
  async function say(call: PartnerCall, to = endpoint): Promise<Record<string, unknown>> {
    const result = await client.call(to, call);
    expect(result).toMatchObject({ kind: 'answer', status: 200, verdict: 'verified' });
    return (result as AnswerResult).reply.json?.value as Record<string, unknown>;
  }
  const refused = (errorCode: string): object => ({ success: false, errorCode });
  const points = async (): Promise<unknown> =>
    (await say({ step: 'balance', address: WALLET }))['points'];

  it('read points', async () => {
    expect(await say({ step: 'balance', address: WALLET })).toEqual({
      success: true,
      partnerUserId: 'player-1',
      address: WALLET,
      points: 50_000,
      chain: 'ethereum',
    });
    const nobody = await say({ step: 'balance', address: NOBODY });
    expect(nobody).toMatchObject(refused('ERR-USER-NOT-FOUND'));
  });

  it('take points once, give them back once, and name the deduction meanwhile', async () => {
    const before = Number(await points());
    const body = { address: WALLET, deductPoints: 1500, svcRedemptionId: redemptionId() };
    const deducted = await say({ step: 'deduct', body });
    const partnerTransactionId = String(deducted['partnerTransactionId']);
    expect(deducted).toEqual({ success: true, partnerTransactionId });
    expect(await say({ step: 'deduct', body })).toMatchObject({
      ...refused('ERR-DUPLICATE-REQUEST'),
      partnerTransactionId,
    });
    expect(await points()).toBe(before - 1500);

    const revert = { ...body, revertReason: 'User cancelled' };
    const wrong = { ...revert, deductPoints: 1 };
    expect(await say({ step: 'revert', body: wrong })).toMatchObject(refused('ERR-INVALID-AMOUNT'));
    const mixed = { ...revert, partnerTransactionId: 'of-another' };
    const notFound = refused('ERR-TRANSACTION-NOT-FOUND');
    expect(await say({ step: 'revert', body: mixed })).toMatchObject(notFound);
    expect(await say({ step: 'revert', body: revert })).toEqual({
      success: true,
      partnerTransactionId,
      partnerRevertId: expect.stringMatching(/^prv_/),
    });
    const again = await say({ step: 'revert', body: { ...revert, partnerTransactionId } });
    expect(again).toMatchObject(refused('ERR-ALREADY-REVERTED'));
    expect(await points()).toBe(before);
    const late = await say({ step: 'deduct', body });
    expect(late).toMatchObject(refused('ERR-DUPLICATE-REQUEST'));
    expect(late).not.toHaveProperty('partnerTransactionId');
  });

  it('refuse what is too much, and a deduction that comes after its revert', async () => {
    const body = { address: WALLET, deductPoints: 50_001, svcRedemptionId: redemptionId() };
    expect(await say({ step: 'deduct', body })).toMatchObject(refused('ERR-INSUFFICIENT-POINTS'));
    const late = { address: WALLET, deductPoints: 1, svcRedemptionId: redemptionId() };
    const reverted = await say({ step: 'revert', body: { ...late, revertReason: 'first' } });
    expect(reverted).toMatchObject(refused('ERR-TRANSACTION-NOT-FOUND'));
    const deducted = await say({ step: 'deduct', body: late });
    expect(deducted).toMatchObject(refused('ERR-DUPLICATE-REQUEST'));
    expect(deducted).not.toHaveProperty('partnerTransactionId');
  });

  it('take a confirmation as often as it comes, of a deduction that they know', async () => {
    const known = { address: WALLET, deductPoints: 1, svcRedemptionId: redemptionId() };
    await say({ step: 'deduct', body: known });
    const body = {
      ...known,
      usdAmount: 0.01,
      svcAmount: 0.1,
      priceSvcUsd: 0.1,
      status: 'claimed' as const,
      txnConfirmed: true,
      txnHash: `0x${'ab'.repeat(32)}`,
      initialAt: '2026-11-20T06:50:32.426Z',
      pendingAt: '2026-11-20T06:50:33.001Z',
      claimedAt: '2026-11-20T06:58:11.000Z',
      revertedAt: null,
    };
    for (let time = 0; time < 2; time++) {
      expect(await say({ step: 'confirm', body })).toEqual({ success: true });
    }
    const unknown = { ...body, svcRedemptionId: redemptionId() };
    expect(await say({ step: 'confirm', body: unknown })).toMatchObject(
      refused('ERR-REDEMPTION-NOT-FOUND'),
    );
  });

  it('let nobody in without the key', async () => {
    const stranger = new PartnerEndpoint({
      partnerId: '5f0c1f0e-0000-4000-8000-000000000002' as PartnerId,
      baseUrl: url,
      apiKey: 'another-key-than-that',
      sharedSecret: CALLBACK.CALLBACK_SECRET,
    });
    const answer = await say({ step: 'balance', address: WALLET }, stranger);
    expect(answer).toMatchObject(refused('ERR-AUTH-FAILED'));
  });

  it('pass the conformance tester, with every capability', async () => {
    const prefix =
      'LOWMARK_API_KEY=$CALLBACK_KEY LOWMARK_SHARED_SECRET=$CALLBACK_SECRET npx lowmark-conformance';
    const [tester, ...more] = commands(PAGE, prefix, { WALLET });
    expect(more).toEqual([]);
    const args = (tester?.words ?? []).map((word) => (word === PAGE_URL ? url : word));
    expect(args).toContain(url);
    const printed = await game.node([TESTER, ...args, '--json'], {
      LOWMARK_API_KEY: CALLBACK.CALLBACK_KEY,
      LOWMARK_SHARED_SECRET: CALLBACK.CALLBACK_SECRET,
    });
    expect(JSON.parse(printed)).toMatchObject({
      outcome: 'conforms',
      counts: { errors: 0, warnings: 0, infos: 0 },
      capabilities: Object.fromEntries(PARTNER_CAPABILITIES.map((name) => [name, true])),
    });
    expect(printed).not.toContain(CALLBACK.CALLBACK_SECRET);
  });

  it("are called by the operator's commands of the page", async () => {
    const bench = await CliBench.start();
    try {
      const variables = { ...CALLBACK, WALLET };
      const found = commands(PAGE, 'npm run --silent cli --', variables);
      expect(found.map(({ words }) => words.slice(0, 2).join(' '))).toEqual([
        'partner create',
        'partner set',
        'partner ping',
      ]);
      for (const { words, input } of found) {
        const here = words.map((word) => word.replace(PAGE_URL, url));
        const { code, out, err } = await bench.runWith(
          { input: () => Promise.resolve(input) },
          ...here,
        );
        expect({ code, err }).toMatchObject({ code: 0 });
        if (words[1] === 'ping') expect(out).toMatch(/^GOOD$/m);
      }
      const [callback] = await bench.database.query<{ capabilities: string[] }>({
        text: 'SELECT capabilities FROM partners.callback',
      });
      expect(callback?.capabilities.toSorted()).toEqual([...PARTNER_CAPABILITIES].sort());
    } finally {
      await bench.drop();
    }
  });
});
