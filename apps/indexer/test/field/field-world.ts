/** Small worlds in the test's memory: a chain, nodes with the quirks of the field, and an index of it. */
import { expect } from '@jest/globals';
import { type Database } from '#libs/db';
import { type Address, ZERO_ADDRESS } from '#libs/domain';
import { aWallet, type TestDatabase } from '#libs/testing/database';
import {
  branchOf,
  CHAIN_ID,
  type Fault,
  type FaultyNode,
  type NodeCall,
  type NodeView,
  resultOf,
  type SimulatedBlock,
  SimulatedChain,
  STAKING,
  type StakeEvent,
  startFaultyNode,
  TOKEN,
  walletsOf,
} from '#libs/testing/fake-node';
import { type IndexedChain, type IndexerUnderTest, startIndexer } from '../harness.js';

const START = 1_760_000_000;
const FINALITY = 10;
const WALLETS = [1, 2, 3, 4, 5].map(aWallet);
/** The events of a busy block: more than a node with a limit answers at once. */
const MANY = 18;
/** Busy blocks, and which of their events withdraw: a limit for each kind of event is kept by the first of them only. */
const BUSY: ReadonlyMap<number, number> = new Map([
  [22, 2],
  [25, 3],
]);

/** What is the same for all nodes of a world. */
export interface WorldOptions {
  /** Default: `staked-withdrawn`. */
  readonly events?: 'staked-withdrawn' | 'transfer';
  /** Whether the zero address keeps what is sent to it, as a part of the total. */
  readonly keepsBurnt?: boolean;
  /** The total of the contract leaves out what the zero address keeps. */
  readonly excludesBurnt?: boolean;
  /** The contract tells balances and no total. */
  readonly hasNoTotal?: boolean;
  /** More events of a block, by its number. */
  readonly more?: (number: number) => readonly StakeEvent[];
  /** Default: by depth. */
  readonly finality?: 'finalized';
  /** Heights without a block before the block that would have this number. */
  readonly skips?: ReadonlySet<number>;
}

export class FieldWorld {
  readonly chain: SimulatedChain;
  private nodes: FaultyNode[] = [];
  private indexer: IndexerUnderTest | undefined;

  constructor(
    private readonly database: TestDatabase,
    private readonly options: WorldOptions = {},
  ) {
    this.chain = new SimulatedChain(START, FINALITY, options.keepsBurnt ?? false);
    this.mine(40);
  }

  /** Blocks with events, without events, and in pairs of the same time. */
  mine(blocks: number): void {
    for (let left = blocks; left > 0; left--) {
      const number = this.chain.head.number + 1;
      if (this.options.skips?.has(number)) this.chain.skip(1);
      this.append(number, [...this.eventsOf(number), ...(this.options.more?.(number) ?? [])]);
    }
  }

  /** Replaces the newest blocks, by one more and with other events. */
  reorganise(blocks: number): void {
    this.chain.takeBack(blocks);
    for (let left = blocks + 1; left > 0; left--) {
      const number = this.chain.head.number + 1;
      this.append(number, [{ wallet: WALLETS[0] as Address, amount: BigInt(number) }]);
    }
  }

  private append(number: number, events: readonly StakeEvent[]): void {
    this.chain.mine(START + Math.floor(number / 2) * 12, events);
  }

  private eventsOf(number: number): StakeEvent[] {
    const wallet = WALLETS[number % WALLETS.length] as Address;
    const other = WALLETS[(number + 1) % WALLETS.length] as Address;
    if (number % 3 === 2) return [];
    if (this.options.events === 'transfer') {
      if (number <= 10) return [{ wallet: ZERO_ADDRESS, to: wallet, amount: 100n }];
      return [{ wallet, to: other, amount: 1n }];
    }
    const withdrawsEvery = BUSY.get(number);
    if (withdrawsEvery !== undefined) {
      return Array.from({ length: MANY }, (_, index) => ({
        wallet: WALLETS[index % WALLETS.length] as Address,
        amount: index % withdrawsEvery === 1 ? -1n : BigInt(10 + index),
      }));
    }
    if (number > 10 && number % 3 === 1)
      return [
        { wallet, amount: 2n },
        { wallet: other, amount: -1n },
      ];
    return [{ wallet, amount: BigInt(100 + number) }];
  }

  private view(): NodeView {
    return {
      head: this.chain.head,
      final: this.chain.final,
      hasTotal: true,
      excludesBurnt: this.options.excludesBurnt ?? false,
      eventsOf: ({ events }) => events,
      secondsOf: ({ seconds }) => seconds,
      centsOf: () => 0,
    };
  }

  private answer = ({ method, params }: NodeCall): unknown => resultOf(this.view(), method, params);

  /** @param faults of each endpoint, in order */
  async start(...faults: readonly (readonly Fault[])[]): Promise<IndexerUnderTest> {
    this.nodes = await Promise.all(
      faults.map((fault) => startFaultyNode({ upstream: this.answer, fault })),
    );
    const chain: IndexedChain = {
      chainId: CHAIN_ID,
      contracts: { staking: STAKING, token: TOKEN, startBlock: 1n },
      rpc: {
        url: '',
        call: <T>(method: string, ...params: unknown[]) =>
          Promise.resolve(this.answer({ id: 1, method, params }) as T),
      },
    };
    this.indexer = await startIndexer({
      chain,
      database: this.database,
      urls: this.nodes.map(({ url }) => url),
      finality: this.options.finality ?? `depth:${FINALITY}`,
      events: this.options.events ?? 'staked-withdrawn',
      ...(this.options.hasNoTotal === true && { totalView: [] }),
      // Otherwise the cells without a valid answer wait most of the time.
      timeoutMs: 500,
      patienceMs: 250,
      overrides: { maxRangeBlocks: 16 },
    });
    return this.indexer;
  }

  /** Sets the faults of an endpoint from now on. */
  setFaults(place: number, faults: readonly Fault[]): void {
    const node = this.nodes[place];
    if (node) node.fault = faults;
  }

  async stop(): Promise<void> {
    await this.indexer?.stop();
    await Promise.all(this.nodes.map((node) => node.close()));
  }

  /** Expects that the index has exactly the balances of the chain, at the end of each block. */
  async expectRight(open: Database): Promise<void> {
    await this.indexer?.level();
    const { rows } = await open.pool.query<{ row: string }>(
      `SELECT concat_ws(' ', '0x' || encode(wallet, 'hex'), block, seconds, balance) AS row
       FROM staking.balance_change`,
    );
    expect(rows.map(({ row }) => row).sort()).toEqual(changesOf(branchOf(this.chain.head)).sort());
  }
}

/** Wallet, block, seconds and balance of each change, from the balances of the chain. */
function changesOf(branch: readonly SimulatedBlock[]): string[] {
  return branch.flatMap(({ number, seconds, events, balances, parent }) =>
    [...new Set(events.flatMap(walletsOf))]
      .filter((wallet) => wallet !== ZERO_ADDRESS)
      .filter((wallet) => balances.get(wallet) !== (parent?.balances.get(wallet) ?? 0n))
      .map((wallet) => [wallet, number, seconds, balances.get(wallet)].join(' ')),
  );
}
