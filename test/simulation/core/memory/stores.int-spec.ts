/**
 * The contract of the stores: the same calls bring the same results, errors and rows in PostgreSQL and in memory.
 * The calls are chosen by a seed: ranges, rollbacks, other leaders, and writes that must be refused.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type AuditRun,
  AuditRunStore,
  type Database,
  DayLows,
  type IndexBatch,
  type IndexSnapshotRef,
  type IndexState,
  IndexStore,
  PriceAcceptanceStore,
  PriceStore,
  SealedDayStore,
  SealWriter,
  type SnapshotState,
  SnapshotStore,
} from '#libs/db';
import {
  type Address,
  type BlockRef,
  dayOf,
  type DayBalance,
  foldBlocks,
  type NodeHash,
  SECONDS_PER_DAY,
} from '#libs/domain';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { testSeeds } from '#libs/testing/seeds';
import { indexedTables, type IndexTables } from '../../../../apps/indexer/test/oracle.js';
import { Choices } from '../../kernel/index.js';
import { type IndexRows } from '../oracle.js';
import { MemoryDatabase } from './memory-database.js';
import { MemoryPriceAcceptanceStore } from './memory-price-store.js';
import { memoryRows } from './memory-rows.js';
import { type MemoryTables, type Public } from './memory-tables.js';

interface Stores {
  readonly index: Public<IndexStore>;
  readonly snapshots: Public<SnapshotStore>;
  readonly lows: Public<DayLows>;
  readonly writer: Public<SealWriter>;
  readonly days: Public<SealedDayStore>;
  readonly prices: Public<PriceStore>;
  readonly acceptances: Public<PriceAcceptanceStore>;
  readonly audits: Public<AuditRunStore>;
  /** The basis of an earlier seal, whose index may have been taken back since. */
  basis: IndexSnapshotRef | undefined;
}

type Call = (stores: Stores) => Promise<unknown>;

function inPostgres(database: Database): Stores {
  return {
    index: new IndexStore(database),
    snapshots: new SnapshotStore(database),
    lows: new DayLows(database),
    writer: new SealWriter(database),
    days: new SealedDayStore(database),
    prices: new PriceStore(database),
    acceptances: new PriceAcceptanceStore(database),
    audits: new AuditRunStore(database),
    basis: undefined,
  };
}

function inMemory({ tables, ...stores }: MemoryDatabase): Stores {
  return { ...stores, acceptances: new MemoryPriceAcceptanceStore(tables), basis: undefined };
}

const TABLES = [
  ...['index_state', 'balance_change', 'balance_day', 'day_total', 'block'],
  ...['sealed_day', 'sealed_leaves', 'sealed_nodes', 'seal_recheck'],
  ...['price', 'price_hold', 'price_acceptance', 'audit_run'],
].map((table) => `staking.${table}`);
const CALLS = 300;
const WALLETS = [1, 2, 3, 4].map(aWallet);
const PRICE_BASE_MS = Date.now();

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** What calls came to, of all seeds. */
const outcomes = new Set<string>();

describe.each(testSeeds())('the stores in PostgreSQL and in memory, $which', ({ seed }) => {
  it('gives the same results, errors and rows', async () => {
    const database = await test.open();
    await database.query({ text: `TRUNCATE ${TABLES.join()}` });
    const memory = new MemoryDatabase();
    const { tables } = memory;
    const stores: readonly [Stores, Stores] = [inPostgres(database), inMemory(memory)];
    const choices = new Choices(seed);
    const both = async (call: Call): Promise<unknown> => {
      const [stored, remembered] = [
        await resultOf(stores[0], call),
        await resultOf(stores[1], call),
      ];
      expect(remembered).toEqual(stored);
      return stored;
    };
    expect(await both(({ index }) => index.takeLead())).toMatchObject({ error: 'INDEX_MISSING' });
    await both(({ index }) => index.create(anInitialIndex()));
    await both(({ index }) => index.takeLead());
    for (let at = 0; at < CALLS; at++) {
      const result = await both(await aCall(choices, stores[1].index, tables));
      outcomes.add((result as { error?: string } | undefined)?.error ?? 'done');
      expect(memoryRows(tables)).toEqual(rowsIn(await indexedTables(database)));
      await both(({ index }) => index.blocks(0n));
      await both(async ({ index }) => comparable(await index.state()));
    }
  });
});

it('meets every refusal', () => {
  expect([...outcomes].sort()).toEqual([
    'DATABASE_REFUSED',
    'INDEX_FENCED',
    'INDEX_HEAD_MOVED',
    'PRICE_MOVED',
    'PRICE_NOT_HELD',
    'SEAL_OUTDATED',
    'WRONG_WALLET_STATE',
    'done',
  ]);
});

async function resultOf(stores: Stores, call: Call): Promise<unknown> {
  try {
    return comparable(await call(stores));
  } catch (error) {
    const { code, sqlState } = error as { code?: string; sqlState?: string };
    return { error: code, class: sqlState?.slice(0, 2) };
  }
}

/** Times are those of the two clocks. */
function comparable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('fence' in value)) return value;
  const { syncedAt, halted, ...state } = value as IndexState;
  return { ...state, isSynced: syncedAt !== undefined, halted: halted?.reason };
}

async function aCall(
  choices: Choices,
  store: Stores['index'],
  tables: MemoryTables,
): Promise<Call> {
  const state = await store.state();
  if (state === undefined) throw new Error('there is no index');
  const held = {
    fence: choices.chance('fence', 50) ? state.fence - 1n : state.fence,
    head: choices.chance('head', 50) ? aBlock(Number(state.head.number), 1, 77) : state.head,
  };
  switch (choices.weighted('call', [50, 12, 3, 3, 4, 10, 3, 2, 10, 14, 5, 30, 6])) {
    case 0: {
      const batch = await aBatch(choices, store, { state, held });
      return ({ index }) => index.commit(batch);
    }
    case 1: {
      const blocks = await store.blocks(0n);
      const to = choices.pick('to', blocks.length > 0 ? blocks : [state.head]);
      return ({ index }) => index.rollback({ ...held, to });
    }
    case 2:
      return ({ index }) => index.takeLead();
    case 3:
      return ({ index }) => index.halt(held.fence, 'a reason');
    case 4:
      return ({ index }) => index.clearHalt(held.fence);
    case 5: {
      const block = BigInt(choices.int('block', Number(state.head.number) + 1));
      const day = choices.pick('day', [...tables.totals.keys(), 0]);
      const page = {
        block,
        after: choices.chance('after', 500) ? choices.pick('after', WALLETS) : undefined,
        limit: 2,
      };
      return async ({ index: one }) => ({
        page: await one.walletPage(page),
        sums: await one.sums(),
        balances: await one.balancesAt(WALLETS, block),
        states: await one.walletStates(WALLETS, day),
        changed: await one.changedWallets({ above: block / 2n, block, after: undefined, limit: 3 }),
        sampled: (await one.sampleWallets(60)).every((wallet) => tables.changes.has(wallet)),
      });
    }
    case 6:
      return ({ index }) => index.recountTotal(held);
    case 7: {
      const to = choices.pick('to', await store.blocks(0n).then((all) => [...all, state.head]));
      return ({ index }) => index.rewind({ ...held, to });
    }
    case 8:
      return aRead(choices, state);
    case 9:
      return aSeal(choices, state, held.fence);
    case 10:
      return aRecheck(choices, tables);
    case 11:
      return choices.chance('accepts', 500) ? anAcceptance(choices) : aPrice(choices, held.fence);
    default:
      return anAudit(choices, state, held.fence);
  }
}

function aRead(choices: Choices, { head }: IndexState): Call {
  const endDay = dayOf(head.timestampSeconds) + choices.int('end day', 3) - 1;
  const asked = WALLETS.slice(choices.int('asked', 4)).map((wallet) => ({ wallet, endDay }));
  const window = { firstDay: endDay - choices.int('window', 5), endDay };
  return async ({ snapshots, lows }) => {
    const found = new Map<Address, readonly DayBalance[]>();
    const begin = () => ({
      add: (_: unknown, days: ReadonlyMap<Address, readonly DayBalance[]>) => {
        for (const [wallet, rows] of days) found.set(wallet, [...rows].sort(byDay));
      },
    });
    const read = await snapshots.read(asked);
    await snapshots.readWindow(WALLETS, window, begin);
    const history = await snapshots.readHistory({ wallet: aWallet(1), after: 2n, limit: 3 });
    const [all, changed]: [unknown[], unknown[]] = [[], []];
    for await (const one of lows.all(endDay - 1)) all.push(one);
    const take = (one: unknown): void => {
      changed.push(one);
    };
    const contradict = (): void => {
      changed.push('rows that contradict each other');
    };
    await lows.changed({ day: endDay, above: 1n, upTo: 2n }, take).catch(contradict);
    return {
      state: comparableState(read?.state),
      days: read?.daysTexts,
      changes: history?.changes,
      ...{ found, all, changed, total: await lows.total(endDay - 1) },
    };
  };
}

function byDay(one: DayBalance, other: DayBalance): number {
  return one.day - other.day;
}

/** The generation and the time of the last sync are those of the two databases. */
function comparableState(state: SnapshotState | undefined): unknown {
  return state && { ...state, generation: '', syncedAt: state.syncedAt !== undefined };
}

function aSeal(choices: Choices, { head }: IndexState, fence: bigint): Call {
  const isStale = choices.chance('stale basis', 400);
  const root = `0x${choices.pick('root', ['1', '2']).repeat(64)}` as NodeHash;
  const wallets = choices.int('sealed wallets', 3);
  const number = BigInt(choices.int('closing block', Number(head.number) + 2));
  const day = dayOf(head.timestampSeconds) - choices.int('sealed day', 3);
  const block = { number, hash: aBlock(Number(number)).hash };
  const content = { day, root, wallets, total: BigInt(wallets), software: 'test', block };
  return async (stores) => {
    const newest = await stores.writer.basis(fence);
    const basis = isStale ? stores.basis : newest;
    stores.basis = newest;
    if (basis === undefined) return 'no basis';
    const { kind, sealed } = await stores.writer.seal({ basis, content });
    const { sealedAt, ...row } = sealed;
    return { kind, row, isDated: sealedAt instanceof Date };
  };
}

function aPrice(choices: Choices, fence: bigint): Call {
  const secondsAgo = choices.pick('observed', [60, 0, 30, -400]);
  const price = {
    usd: choices.pick('usd', ['2.50', '2.5', '3', '0.000012']),
    observedAt: new Date(PRICE_BASE_MS - secondsAgo * 1000),
    source: choices.pick('source', ['chainlink:0x1', 'fixed']),
  };
  const isHeld = choices.chance('held', 500);
  const held = {
    reason: 'jump',
    beforeUsd: '2',
    maxChange: '0.2',
    isNewHold: choices.chance('new hold', 300),
  };
  return async ({ prices }) => {
    let stored: boolean | undefined;
    if (isHeld) await prices.hold(fence, { price, ...held });
    else stored = await prices.record(fence, price);
    const { hold, lowestUsd, highestUsd, ...standing } = await prices.standing();
    return {
      stored,
      ...{ standing, lowest: Number(lowestUsd), highest: Number(highestUsd) },
      hold: hold && { ...hold, since: hold.since instanceof Date },
      quoted: await prices.quoted(),
      newest: await prices.newest(),
    };
  };
}

function anAcceptance(choices: Choices): Call {
  const usd = choices.pick('usd', ['2.50', '2.5', '3', '0.000012']);
  const note = { command: 'price accept', arguments: {}, outcome: 'done' };
  return async ({ acceptances, prices }) => {
    const { since, ...held } = await acceptances.accept(usd, { actor: 'cli:test', note });
    const { hold, beforeUsd, acceptedUsd } = await prices.standing();
    const { at, ...newest } = (await acceptances.newest()) ?? {};
    return {
      ...{ held, newest, beforeUsd, acceptedUsd, isAccepted: hold?.isAccepted },
      areDated: since instanceof Date && at instanceof Date,
    };
  };
}

function anAudit(choices: Choices, { head, total }: IndexState, fence: bigint): Call {
  const startedAt = new Date(PRICE_BASE_MS + choices.int('audited', 1000));
  const times = { startedAt, finishedAt: new Date(startedAt.getTime() + 1) };
  const findings = {
    ...({ result: 'ok', blockNumber: head.number, blockHash: head.hash, wallets: 3 } as const),
    ...{ compared: choices.chance('compared', 500) ? 3 : undefined, differences: 0, different: [] },
    ...{ indexedTotal: total, contractTotal: choices.chance('contract', 500) ? total : undefined },
    sums: { stored: total, closings: total, balances: total },
  };
  const isImpossible = choices.chance('impossible', 400);
  const run: AuditRun = isImpossible
    ? { ...times, result: 'impossible', reason: 'a reason' }
    : { ...times, ...findings };
  return async ({ audits }) => {
    await audits.record(fence, run);
    const first = await audits.list({ limit: 2 });
    const { next } = first;
    const second = next === undefined ? undefined : await audits.list({ limit: 2, after: next });
    return {
      last: await audits.last(),
      lastComparison: await audits.lastComparison(),
      lists: [first.entries, second?.entries],
    };
  };
}

function aRecheck(choices: Choices, { sealed, recheckFrom = 0 }: MemoryTables): Call {
  const day = choices.pick('recheck day', [...sealed.keys(), recheckFrom]);
  const next = choices.chance('next', 500) ? day + 1 : undefined;
  const isNoted = choices.chance('noted', 500);
  return async ({ writer, days }) => {
    if (isNoted) await writer.recheck(day);
    else await writer.rechecked(day, next);
    const { revisedAt, ...summary } = await days.summary();
    const rows = [...(await days.page({ limit: 3 })), ...(await days.revisions(day))];
    return {
      summary: { ...summary, isRevised: revisedAt !== null },
      rows: rows.map((row) => ({ ...row, sealedAt: '' })),
      newest: (await days.newest())?.day,
      byDay: (await days.byDay(day))?.root,
    };
  };
}

async function aBatch(
  choices: Choices,
  store: Stores['index'],
  { state, held }: { state: IndexState; held: { fence: bigint; head: BlockRef } },
): Promise<IndexBatch> {
  const blocks: BlockRef[] = [];
  let { head } = state;
  for (let left = choices.between('blocks', 1, 3); left > 0; left--) {
    head = aBlock(
      Number(head.number) + 1,
      aTime(choices, head.timestampSeconds),
      choices.int('branch', 9),
    );
    blocks.push(head);
  }
  const states = await store.walletStates(WALLETS, dayOf(blocks[0]?.timestampSeconds ?? 0));
  const balances = new Map([...states].map(([wallet, { balance }]) => [wallet, balance]));
  const changed = blocks
    .filter(() => choices.chance('changed', 700))
    .map(({ number, timestampSeconds }) => ({
      blockNumber: number,
      timestampSeconds,
      deltas: [someDelta(choices, balances), someDelta(choices, balances)],
    }));
  if (choices.chance('wrong state', 150)) {
    const wallet = choices.pick('wrong wallet', WALLETS);
    const known = states.get(wallet);
    if (known) states.set(wallet, { ...known, balance: known.balance + 1n });
  }
  const folded = foldBlocks(states, changed);
  if (choices.chance('twice', 150) && folded.changes[0]) folded.changes.push(folded.changes[0]);
  const final = choices.chance('final', 300) ? choices.pick('final block', blocks) : undefined;
  return {
    fence: held.fence,
    previousHead: held.head,
    head,
    blocks,
    ...(changed.length > 0 && { folded }),
    ...(final && { finalised: final }),
    ...(choices.chance('verified', 300) && { verifiedNumber: head.number }),
    synced: choices.chance('synced', 300),
  };
}

function someDelta(choices: Choices, balances: Map<Address, bigint>) {
  const wallet = choices.pick('wallet', WALLETS);
  const balance = balances.get(wallet) ?? 0n;
  const amount = BigInt(choices.int('amount', 20)) - (balance < 10n ? balance : 10n);
  balances.set(wallet, balance + amount);
  return { wallet, amount };
}

/** The same second, a moment later, exactly midnight, or the middle of a later day. */
function aTime(choices: Choices, after: number): number {
  const midnight = (dayOf(after) + 1) * SECONDS_PER_DAY;
  return choices.pick('time', [after + 12, after, midnight, midnight - 1, midnight + 40_000]);
}

function rowsIn({ changes, days, totals }: IndexTables): IndexRows {
  const ofWallets = (rows: readonly string[]) => new Set(rows.map((row) => `0x${row}`));
  return { changes: ofWallets(changes), days: ofWallets(days), totals: new Set(totals) };
}
