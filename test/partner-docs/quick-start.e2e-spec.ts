/**
 * Follows the quick start: runs the code of the page on the published form of the SDK, against the real API, the
 * conformance tester and the operator's commands.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address, parseAddress, PARTNER_CAPABILITIES } from '#libs/domain';
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
  let url: string;
  beforeAll(async () => {
    url = `http://127.0.0.1:${await game.serve('partner.ts', { ...CALLBACK, WALLET })}/game`;
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
