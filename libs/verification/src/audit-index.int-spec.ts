/** The audit on a real index, with a contract whose figures the test sets. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AllEndpointsFailedError,
  ChainReader,
  type FigureOptions,
  loadStakeEvents,
  LogSource,
  RpcPool,
} from '#libs/chain';
import { type Database, IndexStore } from '#libs/db';
import { type Address, dayOf } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { stake, startChain, type TestChain, withdraw } from '#libs/testing/chain';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import {
  agrees,
  AuditImpossibleError,
  auditIndex,
  type AuditQuestion,
  type AuditResult,
  readChainHistory,
  requireComparison,
  requireContractAgrees,
} from './index.js';

const WALLETS = 250;
const WRONG = aWallet(17);
const BLOCK = aBlock(1);
let test: TestDatabase;
let database: Database;
let index: IndexStore;
/** The contract's balances; each test begins with those of the index. */
let contract: Map<Address, bigint>;
interface Node {
  readonly name: string;
  readonly says: ReadonlyMap<Address, bigint>;
}
/** The endpoints in the order in which they are asked; by default one that reports the contract's balances. */
/** What the contract tells of the zero address. */
let zero: { readonly holds: bigint; readonly isInTotal: boolean };
let nodes: readonly Node[];
const truth: Node = {
  name: 'true',
  get says() {
    return contract;
  },
};
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  index = new IndexStore(database);
  const { head } = await index.create(anInitialIndex());
  const { number, timestampSeconds } = BLOCK;
  await index.commit({
    fence: await index.takeLead(),
    previousHead: head,
    head: BLOCK,
    folded: aFold({
      changes: [...balances()].map(([wallet, balance]) => ({
        ...{ wallet, balance, blockNumber: number, timestampSeconds },
      })),
      days: [...balances()].map(([wallet, closing]) => ({ wallet, day: 0, low: 0n, closing })),
      total: totalOf(balances()),
    }),
    blocks: [BLOCK],
    finalised: BLOCK,
  });
});
beforeEach(() => {
  zero = { holds: 0n, isInTotal: true };
  contract = balances();
  nodes = [truth];
});
afterAll(() => test.drop());

function balances(): Map<Address, bigint> {
  return new Map(
    Array.from({ length: WALLETS }, (_, index) => [aWallet(index + 1), BigInt(index + 1)]),
  );
}

function totalOf(all: ReadonlyMap<Address, bigint>): bigint {
  return [...all.values()].reduce((sum, balance) => sum + balance, 0n);
}

function equalSums() {
  const total = totalOf(balances());
  return { stored: total, closings: total, balances: total };
}

/** Counts a rollback, as the indexer does. */
async function goBack(): Promise<void> {
  await database.query({ text: 'UPDATE staking.index_state SET rollbacks = rollbacks + 1' });
}

interface Asked {
  readonly wallets: readonly Address[];
  readonly endpoint: string;
}

/** The first endpoint that may be asked, as the pool chooses it. */
function nodeFor({ avoid = [], saidBy }: FigureOptions = {}): Node {
  const node = nodes.find(({ name }) => !avoid.includes(name));
  if (node === undefined) throw new AllEndpointsFailedError([], 60_000);
  saidBy?.(node.name);
  return node;
}

/** The result, and the requests to the contract. */
async function audit(
  change: Partial<AuditQuestion> = {},
  beforeAnswer: (asked: Asked, question: number) => unknown = () => undefined,
): Promise<{ result: AuditResult; asked: Asked[] }> {
  const asked: Asked[] = [];
  const result = await auditIndex({
    index,
    reader: {
      endpoints: nodes.map(({ name }) => name),
      verifyChainId: () => Promise.resolve(),
      headers: () => Promise.resolve([]),
      findsZeroHolding: () => Promise.resolve(zero.holds > 0n),
      totalWithZero: () => {
        const others = totalOf(nodeFor().says);
        const total = zero.isInTotal ? others + zero.holds : others;
        return Promise.resolve(zero.holds > 0n ? { total, held: zero.holds } : undefined);
      },
      stakeTotal: (_block: unknown, options?: FigureOptions) => {
        const others = totalOf(nodeFor(options).says);
        return Promise.resolve(zero.isInTotal ? others : others - zero.holds);
      },
      stakeBalances: async (wallets: readonly Address[], _: unknown, options?: FigureOptions) => {
        const node = nodeFor(options);
        const question = { wallets, endpoint: node.name };
        asked.push(question);
        const gone = await beforeAnswer(question, asked.length);
        if (gone === 'no state') return undefined;
        return wallets.map((wallet) => node.says.get(wallet) ?? 0n);
      },
    } as Partial<ChainReader> as ChainReader,
    block: 'finalised',
    sample: 'all',
    pace: { batchesAtOnce: 1, pauseMs: 0 },
    sleep: () => Promise.resolve(),
    onProgress: () => undefined,
    ...change,
  });
  return { result, asked };
}

const views = { hasBalances: true, hasTotal: true };

describe('auditIndex', () => {
  it('compares every wallet once, in batches', async () => {
    const { result, asked } = await audit();
    expect(result).toEqual({
      block: BLOCK,
      wallets: WALLETS,
      compared: WALLETS,
      isComplete: true,
      differences: [],
      total: { indexed: totalOf(contract), contract: totalOf(contract) },
      sums: { ...equalSums(), head: BLOCK, wallets: WALLETS },
    });
    expect(asked.map(({ wallets }) => wallets.length)).toEqual([100, 100, 50]);
    expect(new Set(asked.flatMap(({ wallets }) => wallets)).size).toBe(WALLETS);
  });

  it('rests between its questions where it is told to', async () => {
    const rests: number[] = [];
    await audit({
      pace: { batchesAtOnce: 2, pauseMs: 70 },
      sleep: (ms) => Promise.resolve(rests.push(ms)),
    });
    expect(rests).toEqual([70, 70]);
  });

  it('does not believe the difference that one of two endpoints tells', async () => {
    const wrong = { name: 'wrong', says: balances().set(WRONG, 0n) };
    nodes = [wrong, truth];
    const { result, asked } = await audit();
    expect(agrees(result)).toBe(true);
    expect(result).toMatchObject({ compared: WALLETS, isComplete: true });
    expect(asked[1]).toEqual({ wallets: [WRONG], endpoint: 'true' });
    nodes = [truth, wrong];
    expect(agrees((await audit()).result)).toBe(true);
  });

  it('asks the only endpoint twice', async () => {
    contract.set(WRONG, 0n);
    const { result } = await audit({}, (_asked, question) => {
      if (question === 2) contract.set(WRONG, 17n);
    });
    expect(agrees(result)).toBe(true);
  });

  it('takes the second word of the same endpoint where no other can tell', async () => {
    contract.set(WRONG, 5n);
    nodes = [truth, { name: 'pruned', says: new Map() }];
    const pruned = await audit({}, ({ endpoint }) => endpoint === 'pruned' && 'no state');
    expect(pruned.result.differences).toEqual([{ wallet: WRONG, indexed: 17n, contract: 5n }]);
    const away = await audit({}, ({ endpoint }) => {
      if (endpoint === 'pruned') throw new AllEndpointsFailedError([], 0);
    });
    expect(away.result.differences).toHaveLength(1);
  });

  it('does not take a difference that nobody can look at again for a finding', async () => {
    contract.set(WRONG, 5n);
    const { result } = await audit({}, (_asked, question) => question === 2 && 'no state');
    expect(result).toMatchObject({ differences: [], isComplete: false, compared: 99 });
  });

  it('compares the wallets it is given beside those it draws', async () => {
    contract.set(WRONG, 5n);
    for (const sample of [0, 1]) {
      const { result } = await audit({ sample, always: [WRONG] });
      expect(result.differences).toEqual([{ wallet: WRONG, indexed: 17n, contract: 5n }]);
      expect(result.compared).toBeLessThanOrEqual(1 + sample);
    }
  });

  it.each([
    ['finds what was sent there', 5n, true, [{ wallet: WRONG, indexed: 17n, contract: 5n }]],
    ['agrees with a contract that leaves it out of its total', 17n, false, []],
  ])('beside a zero address with stake %s', async (_, balance, isInTotal, differences) => {
    contract.set(WRONG, balance);
    zero = { holds: 12n, isInTotal };
    const { result } = await audit({ sample: 1 });
    expect(result).toMatchObject({ compared: WALLETS, isComplete: true, differences });
  });

  it('looks again at what differs where the index went back meanwhile', async () => {
    contract.set(WRONG, 5n);
    const { result, asked } = await audit({}, async (_asked, question) => {
      if (question === 1) await goBack();
      if (question === 5) contract.set(WRONG, 17n);
    });
    expect(asked[4]?.wallets).toEqual([WRONG]);
    expect(result.differences).toEqual([]);
    expect(result.compared).toBe(WALLETS);
  });

  it('finds the same difference again once the index stands still', async () => {
    contract.set(WRONG, 5n);
    const { result } = await audit({}, (_asked, question) => question === 3 && goBack());
    expect(result.differences).toEqual([{ wallet: WRONG, indexed: 17n, contract: 5n }]);
    expect(result).toMatchObject({ compared: WALLETS, wallets: WALLETS, isComplete: true });
  });

  it('does not take a second look that was cut short for a cure', async () => {
    for (const wallet of contract.keys()) contract.set(wallet, 1n);
    const { result } = await audit({}, async (_asked, question) => {
      if (question === 1) await goBack();
      if (question === 7) contract = balances();
      return question === 8 && 'no state';
    });
    expect(result).toMatchObject({ differences: [], isComplete: false });
  });

  it('gives up where the index keeps going back', async () => {
    contract.set(WRONG, 5n);
    const error = await audit({}, goBack).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AuditImpossibleError);
    expect((error as Error).message).toContain('went back while it was looked at');
  });

  it.each([
    ['the closing of a wallet', 'balance_day', 'closing', { closings: -1n, balances: 0n }],
    ['the balance of a wallet', 'balance_change', 'balance', { closings: 0n, balances: -1n }],
  ])(
    'finds that %s was changed, with the chain out of reach',
    async (_case, table, column, { closings, balances: changes }) => {
      const change = (by: number) =>
        database.transaction(async (client) => {
          // The owner of the database can switch the triggers off that guard the rows.
          await client.query('SET LOCAL session_replication_role = replica');
          await client.query(
            `UPDATE staking.${table} SET ${column} = ${column} + $1 WHERE wallet = $2`,
            [by, Buffer.from(WRONG.slice(2), 'hex')],
          );
        });
      await change(-1);
      try {
        nodes = [];
        const { result } = await audit();
        expect(agrees(result)).toBe(false);
        const { stored, ...others } = equalSums();
        expect(result).toMatchObject({
          sums: {
            stored,
            closings: others.closings + closings,
            balances: others.balances + changes,
          },
          notAsked: expect.stringContaining('endpoint'),
          ...{ block: BLOCK, compared: undefined, differences: [], wallets: WALLETS },
          total: { indexed: others.balances + changes, contract: undefined },
        });
        requireComparison(result, views);
      } finally {
        await change(1);
      }
      await expect(audit()).rejects.toThrow(AllEndpointsFailedError);
    },
  );

  it('ends between two questions when it is to stop', async () => {
    const stop = new AbortController();
    let questions = 0;
    await expect(
      audit({ signal: stop.signal }, () => {
        questions++;
        stop.abort(new Error('enough'));
      }),
    ).rejects.toThrow('enough');
    expect(questions).toBe(1);
  });
});

describe('requireComparison', () => {
  it('takes what is whole, and what the contract cannot tell', async () => {
    const { result } = await audit();
    requireComparison(result, views);
    const { indexed } = result.total;
    const blind = { ...result, total: { indexed, contract: undefined } };
    requireComparison(blind, { hasBalances: true, hasTotal: false });
    requireComparison({ ...result, compared: undefined }, { hasBalances: false, hasTotal: true });
  });

  it('does not take silence for agreement', async () => {
    const { result } = await audit({}, (_asked, question) => question === 3 && 'no state');
    expect(result).toMatchObject({ compared: 200, isComplete: false, differences: [] });
    expect(() => {
      requireComparison(result, views);
    }).toThrow(/No endpoint still has the state of block 1 \(200 of 250 wallets were compared\): /);
    const none = await audit({}, () => 'no state');
    expect(none.result).toMatchObject({ compared: undefined, isComplete: true });
    expect(() => {
      requireComparison(none.result, views);
    }).toThrow(/No endpoint has the state of block 1: /);
    expect(() => {
      requireComparison(none.result, { hasBalances: false, hasTotal: false });
    }).toThrow('The contract tells neither balances nor a total');
  });

  it('takes a difference, however little was looked at', async () => {
    contract.set(aWallet(1), 0n);
    const { result } = await audit({}, (_asked, question) => question === 3 && 'no state');
    expect(result).toMatchObject({ compared: 100, isComplete: false });
    requireComparison(result, views);
  });
});

describe('the history of a chain', () => {
  const START = 1_760_000_000;
  const DAY = 86_400;
  const [ALICE, BOB] = [aWallet(1), aWallet(2)];

  /** Leaves out all events of Bob, each time that it is asked. */
  const WITHOUT_BOB: Fault = {
    kind: 'lie',
    change: ({ method }, result) =>
      method === 'eth_getLogs'
        ? (result as { topics: string[] }[]).filter(
            ({ topics }) => !topics.some((topic) => topic.endsWith(BOB.slice(2))),
          )
        : undefined,
  };

  let chain: TestChain;
  let liar: FaultyNode;

  beforeAll(async () => {
    chain = await startChain({ deployedSeconds: START });
    const { player } = chain;
    await player.block(START + 60, stake(ALICE, 100n));
    await player.block(START + DAY, withdraw(ALICE, 30n), stake(BOB, 5n));
    await player.block(START + DAY + 60, stake(ALICE, 1n), withdraw(ALICE, 1n));
    await player.block(START + 2 * DAY, stake(BOB, 5n));
    liar = await startFaultyNode({ upstream: chain.rpc.url, fault: WITHOUT_BOB });
  });
  afterAll(() => Promise.all([liar.close(), chain.stop()]));

  const allEvents = () => loadStakeEvents('staked-withdrawn');

  async function read(
    urls: readonly string[],
    wallets?: ReadonlySet<typeof ALICE>,
    events?: Awaited<ReturnType<typeof loadStakeEvents>>,
  ) {
    const contracts = [chain.contracts.staking];
    const pool = new RpcPool({ urls, clock: systemClock, backoff: { firstMs: 1, longestMs: 5 } });
    const to = await chain.player.head();
    const history = await readChainHistory({
      source: new LogSource(pool, { contracts, events: events ?? (await allEvents()) }),
      range: { from: chain.contracts.startBlock, to },
      wallets,
      maxRangeBlocks: 2,
      onProgress: () => undefined,
    });
    return { history, reader: new ChainReader(pool, { contracts }) };
  }

  describe('the history of a chain', () => {
    it('has the rows of the wallets, and the sums of all', async () => {
      const { history, reader } = await read([chain.rpc.url], new Set([ALICE]));
      expect([...history.wallets]).toEqual([ALICE]);
      expect(history.rowsOf(ALICE).changes.map(({ balance }) => balance)).toEqual([100n, 70n]);
      expect(history.rowsOf(BOB)).toEqual({ changes: [], days: [] });
      expect(history.total).toBe(80n);
      const first = dayOf(START);
      expect([...history.dayTotals]).toEqual([
        [first, 100n],
        [first + 1, 75n],
        [first + 2, 80n],
      ]);
      const [block] = await reader.headers([await chain.player.head()]);
      if (block === undefined) throw new Error('the chain has its head');
      await requireContractAgrees(reader, history, { block, wallets: [ALICE] });
    });

    it('is refused where two providers tell different events', async () => {
      const both = [liar.url, chain.rpc.url.replace('127.0.0.1', 'localhost')];
      await expect(read(both)).rejects.toMatchObject({ code: 'EVENTS_IN_DOUBT', retryable: true });
    });

    it('is refused where one provider has receipts of other events', async () => {
      await expect(read([liar.url])).rejects.toMatchObject({ code: 'EVENTS_IN_DOUBT' });
    });

    it('is refused where the contract has another total than the events', async () => {
      const onlyStakes = (await allEvents()).slice(0, 1);
      const { history, reader } = await read([chain.rpc.url], undefined, onlyStakes);
      const [block] = await reader.headers([await chain.player.head()]);
      if (block === undefined) throw new Error('the chain has its head');
      const refused = requireContractAgrees(reader, history, { block, wallets: [] });
      await expect(refused).rejects.toMatchObject({ code: 'HISTORY_DIFFERS' });
    });
  });
});
