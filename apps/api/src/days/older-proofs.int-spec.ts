/** Proofs of days whose lists are no longer stored, from a real index by a real thread. Needs a build. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testConstants } from '#libs/config';
import { type Database, IndexStore, SealWriter } from '#libs/db';
import {
  type Address,
  addressBytes,
  type BlockDeltas,
  buildDayTree,
  DayListBuilder,
  FIRST_ADDRESS,
  foldBlocks,
  type Keccak256,
  LAST_ADDRESS,
  type NodeHash,
  parseDay,
  provenLow,
} from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { type MintedCredential } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aBlock, anInitialIndex, aWallet } from '#libs/testing/database';
import { addPartner, type Api, startApi } from '../testing/api-harness.support.js';
import { expectError, type RawAnswer } from '../testing/wire.support.js';

const DAY_SECONDS = 86_400;
const FIRST = (parseDay('2026-10-01') ?? 0) * DAY_SECONDS;
const [SECOND, THIRD] = ['2026-10-02', '2026-10-03'];
const [ALICE, BOB, CAROL] = [aWallet(5), aWallet(9), aWallet(7)];

/**
 * Alice has a low of 60 of her 100 on the second day; Bob has 7 from that day's first second on; Carol stakes on the
 * third day.
 */
const HISTORY: readonly [seconds: number, wallet: Address, amount: bigint][] = [
  [FIRST + 36_000, ALICE, 100n],
  [FIRST + DAY_SECONDS, BOB, 7n],
  [FIRST + DAY_SECONDS + 10, ALICE, -40n],
  [FIRST + DAY_SECONDS + 20, ALICE, 40n],
  [FIRST + 2 * DAY_SECONDS + 30, CAROL, 1n],
];
const LOWS: Readonly<Record<string, readonly [Address, bigint][]>> = {
  [SECOND]: [
    [ALICE, 60n],
    [BOB, 7n],
  ],
  [THIRD]: [
    [ALICE, 100n],
    [BOB, 7n],
  ],
};

let keccak: Keccak256;
let api: Api;
let database: Database;
let partner: MintedCredential;

beforeAll(async () => {
  keccak = await createKeccak256();
});
afterEach(() => api.stop());

async function start(settings: Record<string, string> = {}): Promise<void> {
  api = await startApi({ REQUEST_LOG: '0', ...settings });
  partner = await addPartner(api, 'older');
  database = await api.database.open();
  await index();
}

async function index(): Promise<void> {
  const store = new IndexStore(database);
  const first = aBlock(0, FIRST);
  await store.create(anInitialIndex({ head: first }));
  const fence = await store.takeLead();
  const blocks = HISTORY.map(([timestampSeconds, wallet, amount], place): BlockDeltas => {
    return { blockNumber: BigInt(place + 1), timestampSeconds, deltas: [{ wallet, amount }] };
  });
  const folded = foldBlocks(new Map(), blocks);
  const head = aBlock(100, FIRST + 9 * DAY_SECONDS);
  const facts = { finalised: head, verifiedNumber: 100n, synced: true };
  await store.commit({ fence, previousHead: first, head, folded, blocks: [], ...facts });
  const writer = new SealWriter(database);
  const basis = await writer.basis(fence);
  if (basis === undefined) throw new Error('it leads');
  for (const [name, lows] of Object.entries(LOWS)) {
    const list = new DayListBuilder();
    for (const [wallet, low] of lows) list.add(addressBytes(wallet), low);
    const { root, leaves } = buildDayTree(list.list(), keccak);
    const { length: wallets, total } = leaves.list;
    const content = {
      day: parseDay(name) ?? 0,
      root,
      wallets,
      total,
      block: aBlock(9),
      software: '1',
    };
    await writer.seal({ basis, content });
  }
}

interface Proof {
  readonly low: string;
  readonly day: { readonly root: NodeHash };
  readonly leaf: { readonly wallet: Address; readonly low: string; readonly next: Address };
  readonly proof: NodeHash[];
}

const ask = (day: string, wallet: string = ALICE, by = partner): Promise<RawAnswer> =>
  api.as(by).ask(`/api/staking/days/${day}/proof?walletAddress=${wallet}`);

/** Repeats the request while the tree is being built, as a partner does. */
async function answerFor(day: string, wallet: Address): Promise<RawAnswer> {
  let answer = await ask(day, wallet);
  const isThere = async (): Promise<boolean> => {
    answer = await ask(day, wallet);
    return answer.status !== 503;
  };
  if (answer.status === 503) await eventually(isThere, { everyMs: 250 });
  return answer;
}

async function lowOf(day: string, wallet: Address): Promise<bigint | undefined> {
  const { status, body } = await answerFor(day, wallet);
  expect([status, body]).toEqual([200, expect.any(String)]);
  const { low, leaf, proof, day: sealed } = JSON.parse(body) as Proof;
  const given = { root: sealed.root, leaf: { ...leaf, low: BigInt(leaf.low) }, proof };
  const proven = provenLow(wallet, given, keccak);
  expect(low).toBe(String(proven));
  return proven;
}

/** Holds up all builds until `release` is called, or the statement has reached its time limit. */
async function holdBuilds(): Promise<{ readonly release: () => Promise<void> }> {
  let free = (): void => undefined;
  const freed = new Promise<void>((resolve) => (free = resolve));
  let taken = (): void => undefined;
  const locked = new Promise<void>((resolve) => (taken = resolve));
  const holding = database.transaction(async (client) => {
    await client.query('LOCK TABLE staking.balance_day IN ACCESS EXCLUSIVE MODE');
    taken();
    await freed;
  });
  await locked;
  return {
    release: async () => {
      free();
      await holding;
    },
  };
}

const threads = () =>
  database.query<{ pid: number }>({
    text: `SELECT pid FROM pg_stat_activity WHERE application_name = 'lowmark-older-proofs' AND datname = current_database()`,
  });

describe('a proof of a day whose lists are not kept', () => {
  beforeEach(() => start());

  it('leads to the sealed root, for wallets that are there and those that are not', async () => {
    for (const [day, lows] of Object.entries(LOWS)) {
      for (const wallet of [ALICE, BOB, CAROL, aWallet(10), FIRST_ADDRESS, LAST_ADDRESS]) {
        const expected = lows.find(([one]) => one === wallet)?.[1] ?? 0n;
        expect(await lowOf(day, wallet)).toBe(expected);
      }
    }
  });

  it('is worked out once for many who ask', async () => {
    const asked = Array.from({ length: 50 }, (_, place) => lowOf(SECOND, aWallet(place + 1)));
    expect((await Promise.all(asked)).filter((low) => low === 60n)).toHaveLength(1);
    // The cached tree answers from now on, without a read of the index.
    await database.query({ text: 'TRUNCATE staking.balance_day' });
    expect(await lowOf(SECOND, BOB)).toBe(7n);
  });

  it.each<[string, string]>([
    ['another low', `UPDATE staking.balance_day SET low = 61 WHERE low = 60`],
    ['a wallet less', `DELETE FROM staking.balance_day WHERE closing = 7`],
    [
      'a wallet more',
      `INSERT INTO staking.balance_day (wallet, day, low, closing) VALUES ('\\x00000000000000000000000000000000000000aa', 1, 3, 3)`,
    ],
  ])('is refused where the index has %s, and no other is given', async (_, text) => {
    await database.query({ text });
    for (let time = 0; time < 2; time += 1) {
      const answer = await answerFor(SECOND, ALICE);
      expectError(answer, 409, 'DAY_REVISION_DUE');
      expect(answer.headers['retry-after']).toBe('600');
    }
    expect(api.logs.join('')).toContain('The index no longer gives the root of a sealed day');
  });

  it('is asked for again where it takes long, one day at a time', async () => {
    const { release } = await holdBuilds();
    const [late, busy] = await Promise.all([ask(SECOND), ask(SECOND).then(() => ask(THIRD))]);
    expectError(late, 503, 'PROOF_NOT_READY');
    expect(late.headers['retry-after']).toBe('3');
    expectError(busy, 503, 'PROOF_NOT_READY');
    expect(busy.body).toContain('after that of another day');
    await release();
    // The statement may have reached its time limit by now; the next request then starts another build.
    await eventually(async () => (await ask(SECOND)).status === 200);
    expect(await lowOf(THIRD, BOB)).toBe(7n);
  });

  it('comes at once from a cached tree, however many of one partner wait for another tree', async () => {
    const [busy, other] = [
      await addPartner(api, 'busy', { rate: 1000, burst: 1000 }),
      await addPartner(api, 'other'),
    ];
    expect(await lowOf(THIRD, BOB)).toBe(7n);
    // The look-up of a key that is not known counts for the address.
    for (const by of [busy, other]) expect((await ask(THIRD, BOB, by)).status).toBe(200);
    const { release } = await holdBuilds();
    const waiting = Array.from({ length: 220 }, () => ask(SECOND, ALICE, busy));
    const { status } = await ask(THIRD, BOB, other);
    await release();
    await Promise.all(waiting);
    expect(status).toBe(200);
  });

  it('comes after its connection was lost', async () => {
    expect(await lowOf(SECOND, ALICE)).toBe(60n);
    const [thread] = await threads();
    await database.query({ text: `SELECT pg_terminate_backend(${thread?.pid ?? 0})` });
    await eventually(async () => (await ask(THIRD)).status === 200);
  });
});

it('is refused where there is not the memory for it', async () => {
  await start(testConstants({ olderProofsMb: 0 }));
  expectError(await ask(SECOND), 410, 'PROOF_NOT_KEPT');
  expect(await threads()).toEqual([]);
});
