/**
 * The default check of the partner SDK against a proxy on the way to the API: a signed answer to another question, or
 * to an earlier one, is refused without message signatures.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SignatureError, type StakingClient, UnexpectedAnswerError } from '#libs/partner-sdk';
import { type MintedCredential } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  type Api,
  NOON_MS,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { ProxyBetween, type SignedAnswer } from '../testing/proxy-between.support.js';

const [ALICE, BOB, NONE] = [aWallet(0xa11ce), aWallet(0xb0b), aWallet(0x404)];

let api: Api;
let proxy: ProxyBetween;
let credential: MintedCredential;
let client: StakingClient;
/** The partner's clock. */
const clock = new FakeClock(NOON_MS);

beforeAll(async () => {
  // The API's clock goes on, and the index does not.
  api = await startApi({ INDEX_MAX_LAG_SECONDS: '86400' });
  credential = await addPartner(api, 'behind a proxy');
  proxy = await ProxyBetween.start(api);
  client = proxy.client(credential, { clock });
  await seedIndex(api, {
    events: [
      ['2026-11-10T10:00:00Z', ALICE, 1000],
      ['2026-11-11T10:00:00Z', BOB, 5],
      ['2026-11-15T09:00:00Z', ALICE, -900],
      ['2026-11-17T09:00:00Z', ALICE, -50],
      ['2026-11-18T09:00:00Z', ALICE, -49],
    ],
    headAt: '2026-11-21T12:00:00Z',
  });
});
beforeEach(() => {
  proxy.reset();
  clock.set(NOON_MS);
});
afterAll(async () => {
  proxy.stop();
  await api.stop();
});

const more = (query: string): void => {
  proxy.question = ({ target, ...rest }) => ({ target: `${target}&${query}`, ...rest });
};
const instead = (from: string, to: string): void => {
  proxy.question = ({ target, body }) => ({
    target: target.replace(from, to),
    body: body.replace(from, to),
  });
};

/** Answers that came until now, sent again in place of those that come from now on. */
function replay(): void {
  const before = [...proxy.given];
  const next = (given: SignedAnswer): SignedAnswer => before.shift() ?? given;
  proxy.answer = next;
}

async function failure(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    (value) => ({ accepted: value }),
    (error: unknown) => error,
  );
}

async function expectRefused(asked: Promise<unknown>, fault: string): Promise<void> {
  const error = await failure(asked);
  expect(error).toBeInstanceOf(UnexpectedAnswerError);
  expect((error as Error).message).toContain(fault);
}

const OLD = 'requestedAt is more than 300 s from the clock here';

describe('a question that is changed on the way', () => {
  it('has another window', async () => {
    more('endDay=2026-11-14');
    await expectRefused(client.snapshots(ALICE, { lastDays: 3 }), 'the 3 days up to 2026-11-20');
    instead('endDay=2026-11-19', 'endDay=2026-11-14');
    const asked = { lastDays: 3, endDay: '2026-11-19' };
    await expectRefused(client.snapshots(ALICE, asked), 'the 3 days up to 2026-11-19');
    instead('lastDays=3', 'lastDays=2');
    await expectRefused(client.snapshots(ALICE, asked), 'the 3 days up to 2026-11-19');
  });

  it('has another wallet', async () => {
    instead(BOB, ALICE);
    await expectRefused(client.snapshots(BOB), 'walletAddress is not');
    await expectRefused(client.snapshotsBatch([BOB]), BOB);
    instead(ALICE, NONE);
    expect(await failure(client.snapshotsOrNone(ALICE))).toMatchObject({ status: 404 });
    expect(await failure(client.history(ALICE))).toMatchObject({ status: 404 });
  });

  it('has another contract', async () => {
    const { stakeContract } = await client.snapshots(ALICE);
    const contract = `eip155:31337:${stakeContract}`;
    const named = { contract, chainId: 31337 };
    expect(await client.snapshots(ALICE, { contract })).toMatchObject(named);
    more(`contract=${contract}`);
    await expectRefused(client.snapshots(ALICE), 'contract is not');
    await expectRefused(client.history(ALICE), 'contract is not');
    expect(await failure(client.snapshotsOrNone(NONE))).toMatchObject({ status: 404 });
    instead('"lastDays":7', `"lastDays":7,"contract":"${contract}"`);
    await expectRefused(client.snapshotsBatch([NONE]), 'contract is not');
    instead('&contract=', '&ignored=');
    await expectRefused(client.snapshots(ALICE, { contract }), 'contract is not');
    expect(await failure(client.snapshotsOrNone(NONE, { contract }))).toMatchObject({
      status: 404,
    });
  });
});

describe('an answer of before', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['snapshots', () => client.snapshots(ALICE)],
    ['a wallet that never staked', () => client.snapshotsOrNone(NONE)],
    ['a batch', () => client.snapshotsBatch([ALICE, NONE])],
    ['a history', () => client.history(ALICE)],
    ['a history of a wallet that never staked', () => client.history(NONE)],
  ])('is refused: %s', async (_, ask) => {
    await ask();
    replay();
    clock.advance(300_001);
    await expectRefused(ask(), OLD);
    replay();
    // A partner's clock that is behind finds the answer in its future.
    clock.set(NOON_MS - 300_001);
    await expectRefused(ask(), OLD);
  });

  it('may be as old as the partner says', async () => {
    await client.snapshots(ALICE);
    replay();
    clock.advance(10_000);
    expect(await client.snapshots(ALICE)).toMatchObject({ walletAddress: ALICE });
    const strict = proxy.client(credential, { clock, freshSeconds: 5 });
    replay();
    await expectRefused(strict.snapshots(ALICE), 'more than 5 s from the clock here');
    const lax = proxy.client(credential, { clock, freshSeconds: 7200 });
    clock.advance(3_600_000);
    replay();
    expect(await lax.snapshots(ALICE)).toMatchObject({ requestedAt: '2026-11-21T12:00:02.123Z' });
  });

  it('is refused with message signatures at any time', async () => {
    const bound = proxy.client(credential, { clock, messageSignatures: true });
    await bound.snapshots(ALICE);
    replay();
    expect(await failure(bound.snapshots(ALICE))).toBeInstanceOf(SignatureError);
  });
});

it.each([200, 404, 409, 500])('a status that became %s makes no other answer', async (status) => {
  proxy.answer = (given) => ({ ...given, status });
  expect(await failure(client.snapshotsOrNone(ALICE))).toMatchObject(
    status === 200 ? { accepted: { walletAddress: ALICE } } : { code: 'UNKNOWN' },
  );
  expect(await failure(client.snapshotsOrNone(NONE))).toMatchObject(
    status === 404 ? { accepted: undefined } : { name: expect.stringMatching(/Error$/) },
  );
  const tomorrow = client.snapshotsOrNone(ALICE, { endDay: '2026-11-21' });
  expect(await failure(tomorrow)).toMatchObject({ name: expect.stringMatching(/Error$/) });
});

describe('an honest answer', () => {
  /** Both clocks go on. */
  function pass(ms: number): string {
    api.clock.advance(ms);
    clock.set(api.clock.nowMs());
    return new Date(api.clock.nowMs()).toISOString();
  }

  it('is never too old, since each names the time of its own request', async () => {
    for (const hours of [0, 1, 5, 5, 1, 6]) {
      const requestedAt = pass(hours * 3_600_000);
      expect(await client.snapshots(ALICE)).toMatchObject({ requestedAt });
      expect(await client.snapshotsOrNone(NONE)).toBeUndefined();
      expect((await client.snapshotsBatch([ALICE, NONE])).size).toBe(2);
      expect(await client.history(NONE)).toBeUndefined();
      expect(await client.history(ALICE, { limit: 2, after: 1 })).toMatchObject({ next: 4 });
    }
    const kept = proxy.given.map(({ headers }) => headers.get('cache-control'));
    expect(new Set(kept)).toEqual(new Set(['no-store']));
  });
});
