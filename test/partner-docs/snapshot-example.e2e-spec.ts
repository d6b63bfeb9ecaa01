/** Runs the Python example that reads a snapshot, with a proxy between it and the API that changes questions. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { aWallet } from '#libs/testing/database';
import { type MintedCredential } from '#libs/signing';
import {
  addPartner,
  type Api,
  seedIndex,
  startApi,
} from '../../apps/api/src/testing/api-harness.support.js';
import { ProxyBetween } from '../../apps/api/src/testing/proxy-between.support.js';

const run = promisify(execFile);
const DAY_MS = 86_400_000;
const [ALICE, BOB, NONE] = [aWallet(0xa11ce), aWallet(0xb0b), aWallet(0x404)];
/** The example reads the clock of the system. */
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const daysAgo = (days: number): string => new Date(nowMs - days * DAY_MS).toISOString();

let api: Api;
let proxy: ProxyBetween;
let credential: MintedCredential;

beforeAll(async () => {
  // The API's clock also stands before the example's, and the index stands before both.
  api = await startApi({ INDEX_MAX_LAG_SECONDS: '3600' });
  api.clock.set(nowMs);
  credential = await addPartner(api, 'in Python');
  proxy = await ProxyBetween.start(api);
  await seedIndex(api, {
    events: [
      [daysAgo(20), ALICE, 2000],
      [daysAgo(20), BOB, 150],
      [daysAgo(9), ALICE, -1990],
    ],
    headAt: new Date(nowMs - 1_000_000).toISOString(),
  });
});
beforeEach(() => {
  proxy.reset();
});
afterAll(async () => {
  proxy.stop();
  await api.stop();
});

/** What the example prints, or its last line on standard error. */
async function tierOf(wallet: string): Promise<string> {
  const program = 'docs/partners/examples/snapshot.py';
  const env = {
    ...process.env,
    STAKING_URL: proxy.url,
    STAKING_API_KEY: credential.apiKey,
    STAKING_SECRET: credential.sharedSecret,
    WALLET: wallet,
  };
  try {
    return (await run('python3', ['-B', program], { env })).stdout.trim();
  } catch (error) {
    return (error as { stderr: string }).stderr.trim().split('\n').at(-1) ?? '';
  }
}

const REFUSED = /^ValueError: The answer is signed, and not the one to this question/;

it('reads the tier of a wallet, and of one that never staked', async () => {
  expect(await tierOf(`0x${BOB.slice(2).toUpperCase()}`)).toBe('150 staked on average: silver');
  expect(await tierOf(ALICE)).toBe('10 staked on average: bronze');
  expect(await tierOf(NONE)).toBe('0 staked on average: bronze');
});

it.each([
  ['lastDays=7', `lastDays=7&endDay=${daysAgo(11).slice(0, 10)}`],
  ['lastDays=7', 'lastDays=8'],
  [ALICE, BOB],
])('refuses the answer where %s became %s on the way', async (from, to) => {
  proxy.question = ({ target, body }) => ({ target: target.replace(from, to), body });
  expect(await tierOf(ALICE)).toMatch(REFUSED);
});

it('refuses an answer of before', async () => {
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
