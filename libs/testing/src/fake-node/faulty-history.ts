import { type RpcWarning, RpcPool } from '#libs/chain';
import { type TestChain, startChain } from '../chain/start-chain.js';
import { type Address, type BlockDeltas } from '#libs/domain';
import { stake, withdraw } from '#libs/devchain';
import { FakeClock } from '../clock/fake-clock.js';
import { aWallet } from '../database/index-builders.js';
import { type Fault } from './fault.js';
import { type FaultyNode, startFaultyNode } from './faulty-node.js';

const START = 1_700_000_000;
const AMOUNTS = [5n, 7n, 11n];

/**
 * Six blocks with staking events on a real chain, read through nodes whose faults each test chooses. The first block
 * has three events, the fourth and the last have one each, and the others none.
 */
export class FaultyHistory {
  readonly alice: Address = aWallet(1);
  readonly bob: Address = aWallet(2);
  nodes: FaultyNode[] = [];
  warnings: RpcWarning[] = [];
  clock = new FakeClock(0);

  private constructor(
    readonly chain: TestChain,
    /** Number of the first block, which has three events. */
    readonly busy: bigint,
  ) {}

  static async start(): Promise<FaultyHistory> {
    const chain = await startChain({ deployedSeconds: START });
    const history = new FaultyHistory(chain, (await chain.player.head()) + 2n);
    const { alice, bob } = history;
    await chain.player.fund([alice, bob], 1000n, START);
    await chain.player.block(
      START + 10,
      AMOUNTS.map((amount) => stake(alice, amount)),
    );
    await chain.player.mine(START + 20, START + 20);
    await chain.player.block(START + 30, withdraw(alice, 3n));
    await chain.player.mine(START + 40);
    await chain.player.block(START + 50, stake(bob, 100n));
    return history;
  }

  /** Number of the block with a single event. */
  get single(): bigint {
    return this.busy + 3n;
  }

  get range(): { readonly from: bigint; readonly to: bigint } {
    return { from: this.busy, to: this.busy + 5n };
  }

  /** The expected balance changes. */
  get truth(): BlockDeltas[] {
    const { alice, bob } = this;
    return [
      {
        blockNumber: this.busy,
        timestampSeconds: START + 10,
        deltas: AMOUNTS.map((amount) => ({ wallet: alice, amount })),
      },
      {
        blockNumber: this.single,
        timestampSeconds: START + 30,
        deltas: [{ wallet: alice, amount: -3n }],
      },
      {
        blockNumber: this.range.to,
        timestampSeconds: START + 50,
        deltas: [{ wallet: bob, amount: 100n }],
      },
    ];
  }

  /**
   * Creates a pool over one node per argument, each with its faults. The pool's `sleep` advances the clock instead of
   * waiting.
   */
  async pool(...faults: readonly (Fault | readonly Fault[] | undefined)[]): Promise<RpcPool> {
    await this.closeNodes();
    const upstream = this.chain.url;
    this.nodes = await Promise.all(
      faults.map((fault) => startFaultyNode({ upstream, ...(fault ? { fault } : {}) })),
    );
    this.clock = new FakeClock(0);
    this.warnings = [];
    return new RpcPool({
      urls: this.nodes.map((node) => node.url),
      clock: this.clock,
      timeoutMs: 1500,
      maxResponseBytes: 1_000_000,
      observer: { request: () => undefined, warning: (warning) => this.warnings.push(warning) },
      sleep: (ms) => {
        this.clock.advance(ms);
        return Promise.resolve();
      },
    });
  }

  async stop(): Promise<void> {
    await this.closeNodes();
    await this.chain.stop();
  }

  private async closeNodes(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    this.nodes = [];
  }
}
