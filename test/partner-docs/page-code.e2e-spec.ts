/**
 * Runs the code of the partners' pages as a partner would: in TypeScript on the published form of the SDK, and the Python
 * example that reads a snapshot, with a proxy between it and the API that changes questions. pages.soak-spec.ts types the
 * commands of the pages.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type WebhookAttempt, WebhookSender } from '#libs/partner-client';
import { systemClock } from '#libs/platform';
import { type MintedCredential, mintWebhookSecret } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  type Api,
  seedIndex,
  startApi,
} from '../../apps/api/src/testing/api-harness.support.js';
import { ProxyBetween } from '../../apps/api/src/testing/proxy-between.support.js';
import { GameFolder } from './game-folder.js';
import { codeBlocks, read } from './markdown.js';

const LIMIT_MS = 240_000;
const DAY_MS = 86_400_000;
const [ALICE, BOB, NONE] = [aWallet(0xa11ce), aWallet(0xb0b), aWallet(0x404)];
/** SDK and example compare the time of an answer with the clock of the system. */
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const daysAgo = (days: number): string => new Date(nowMs - days * DAY_MS).toISOString();

let game: GameFolder;
let api: Api;
let proxy: ProxyBetween;
let credential: MintedCredential;
beforeAll(async () => {
  game = await GameFolder.of('docs/partners/quick-start.md', 'docs/partners/webhooks.md');
  game.copy('docs/partners/examples/partner.ts');
  api = await startApi({ INDEX_MAX_LAG_SECONDS: '3600' });
  api.clock.set(nowMs);
  credential = await addPartner(api, 'my game');
  proxy = await ProxyBetween.start(api);
  await seedIndex(api, {
    events: [
      [daysAgo(20), ALICE, 2000],
      [daysAgo(20), BOB, 150],
      [daysAgo(9), ALICE, -1990],
    ],
    // The index stands before both clocks.
    headAt: new Date(nowMs - 1_000_000).toISOString(),
  });
}, LIMIT_MS);
beforeEach(() => {
  proxy.reset();
});
afterAll(async () => {
  await game.remove();
  proxy.stop();
  await api.stop();
});

it(
  'is right for the compiler',
  async () => {
    expect(await game.typeErrors()).toBe('');
  },
  LIMIT_MS,
);

const environmentOf = (wallet: string) => ({
  STAKING_URL: proxy.url,
  STAKING_API_KEY: credential.apiKey,
  STAKING_SECRET: credential.sharedSecret,
  WALLET: wallet,
});

describe('a snapshot in TypeScript', () => {
  it.each([
    ['a wallet that stakes', BOB, '150 staked on average: silver\n'],
    ['one that never did', NONE, '0 staked on average: bronze\n'],
  ])('gives the tier of %s', async (_, wallet, printed) => {
    expect(await game.node(['tier.ts'], environmentOf(wallet))).toBe(printed);
  });

  it('is not believed under another secret', async () => {
    const env = { ...environmentOf(BOB), STAKING_SECRET: `${credential.sharedSecret}x` };
    await expect(game.node(['tier.ts'], env)).rejects.toThrow('SIGNATURE_INVALID');
  });
});

describe('a snapshot in Python', () => {
  /** What the example prints, or its last line on standard error. */
  async function tierOf(wallet: string): Promise<string> {
    const program = 'docs/partners/examples/snapshot.py';
    const env = { ...process.env, ...environmentOf(wallet) };
    try {
      return (await promisify(execFile)('python3', ['-B', program], { env })).stdout.trim();
    } catch (error) {
      return (error as { stderr: string }).stderr.trim().split('\n').at(-1) ?? '';
    }
  }

  const REFUSED = /^ValueError: The answer is signed, and not the one to this question/;

  it('gives the tier of a wallet, and of one that never staked', async () => {
    const written = `0x${BOB.slice(2).toUpperCase()}`;
    expect(await tierOf(written)).toBe('150 staked on average: silver');
    expect(await tierOf(ALICE)).toBe('10 staked on average: bronze');
    expect(await tierOf(NONE)).toBe('0 staked on average: bronze');
  });

  it.each([
    ['lastDays=7', `lastDays=7&endDay=${daysAgo(11).slice(0, 10)}`],
    ['lastDays=7', 'lastDays=8'],
    [ALICE, BOB],
  ])('is refused where %s became %s on the way', async (from, to) => {
    proxy.question = ({ target, body }) => ({ target: target.replace(from, to), body });
    expect(await tierOf(ALICE)).toMatch(REFUSED);
  });

  it('is refused if it is an answer of before', async () => {
    api.clock.set(nowMs - 400_000);
    for (const wallet of [BOB, NONE]) {
      const target = `/api/staking/snapshots?walletAddress=${wallet}&lastDays=7`;
      await fetch(proxy.url + target, { headers: { 'x-api-key': credential.apiKey } });
    }
    api.clock.set(nowMs);
    const [before, none] = proxy.given;
    expect([before?.status, none?.status]).toEqual([200, 404]);
    proxy.answer = (given) => before ?? given;
    expect(await tierOf(BOB)).toMatch(REFUSED);
    proxy.answer = (given) => none ?? given;
    expect(await tierOf(NONE)).toMatch(/^ValueError: Status 404: No staking data for wallet/);
  });
});

const EVENTS: Readonly<Record<string, Record<string, unknown>>> = {
  'day.sealed': {
    ...{ stakeSet: 'default', day: '2026-11-21', revision: 1, root: `0x${'a'.repeat(64)}` },
    ...{ wallets: 3, total: '5', tokenDecimals: 18, blockNumber: 9 },
    blockHash: `0x${'b'.repeat(64)}`,
  },
  'redemption.claimed': {
    ...{ redemptionId: '01935000-0000-7000-8000-000000000000', status: 'claimed', points: 5 },
    ...{ walletAddress: `0x${'1'.repeat(40)}`, usdAmount: '1.5', tokenAmount: '7' },
    ...{ tokenDecimals: 18, transactionHash: `0x${'c'.repeat(64)}` },
  },
  'webhook.test': {},
};

describe('the receiver of webhooks', () => {
  const SECRET = mintWebhookSecret();
  let port: number;
  beforeAll(async () => {
    port = await game.serve('receiver.ts', { WEBHOOK_SECRET: SECRET });
  });

  function send(event: object, secret = SECRET): Promise<WebhookAttempt> {
    const sender = new WebhookSender({ clock: systemClock, policy: { allowPrivate: true } });
    return sender.send({
      ...{ id: `msg_${randomBytes(16).toString('hex')}`, subscription: 'one', secrets: [secret] },
      ...{ url: `http://127.0.0.1:${port}/`, payload: JSON.stringify(event) },
    });
  }

  it.each(Object.keys(EVENTS))('takes %s', async (type) => {
    const event = { type, timestamp: '2026-11-22T00:00:00.000Z', data: EVENTS[type] };
    expect(await send(event)).toMatchObject({ status: 204 });
  });

  it('refuses what another secret signed, and takes what it does not know once', async () => {
    const event = { type: 'webhook.test', timestamp: '', data: {} };
    expect(await send(event, mintWebhookSecret())).toMatchObject({ status: 400 });
    expect(await send({ ...event, type: 'day.eaten' })).toMatchObject({ status: 204 });
  });
});

describe('the schemas of docs/wire/webhooks.md', () => {
  const blocks = codeBlocks(read('docs/wire/webhooks.md')).filter(
    ({ title }) => title === 'schema',
  );
  const schemas = blocks.map(
    ({ code }) =>
      JSON.parse(code) as {
        readonly required: string[];
        readonly properties: Record<string, { readonly pattern?: string }>;
      },
  );

  it.each(['day.sealed', 'redemption.claimed'])('fit %s', (type) => {
    const data = EVENTS[type] as Record<string, unknown>;
    const fitting = schemas.filter(({ required, properties }) => {
      const names = Object.keys(data);
      return (
        required.every((name) => names.includes(name)) &&
        names.every((name) => name in properties) &&
        names.every((name) => new RegExp(properties[name]?.pattern ?? '').test(String(data[name])))
      );
    });
    expect(fitting).toHaveLength(1);
  });
});
