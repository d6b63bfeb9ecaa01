import { setTimeout as sleep } from 'node:timers/promises';
import { stake, startChain, type TestChain } from '#libs/testing';
import { HistoryMaker, randomOf } from '../../apps/indexer/test/history.js';
import { WALLET } from '../restarts/served-index.js';

/** Blocks are hours apart: thousands of them must not come to be dated into the future, which the indexer does not believe. */
const START = 1_500_000_000;
const PAUSE_MS = 400;
const REORGANISES_ONE_IN = 12;
/** Less than what the indexer calls final. */
const DEEPEST = 8;

/** A chain on which wallets stake and withdraw all the time, and which changes its mind now and then. */
export class StakingLife {
  private stopping = false;
  private readonly living: Promise<void>;

  private constructor(
    readonly chain: TestChain,
    private readonly history: HistoryMaker,
    private readonly random: (below: number) => number,
  ) {
    this.living = this.live();
    // Told by `end`.
    this.living.catch(() => undefined);
  }

  /** The wallet that the API is asked for has staked. */
  static async start(seed: number): Promise<StakingLife> {
    const chain = await startChain({ deployedSeconds: START });
    const random = randomOf(seed);
    const history = new HistoryMaker(random, START + 10);
    await chain.player.block(START + 10, stake(WALLET, 1_000_000n));
    await chain.player.play(history.blocks(100));
    return new StakingLife(chain, history, random);
  }

  /** No further block. @throws what went wrong on the chain */
  async end(): Promise<void> {
    this.stopping = true;
    await this.living;
  }

  private async live(): Promise<void> {
    const { chain, history, random } = this;
    while (!this.stopping) {
      const before = history.save();
      const depth = 1 + random(DEEPEST);
      await chain.player.play(history.blocks(depth));
      await sleep(PAUSE_MS * depth);
      if (random(REORGANISES_ONE_IN) > 0) continue;
      history.restore(before);
      await chain.player.reorganise(depth, history.blocks(depth + random(3)));
    }
  }
}
