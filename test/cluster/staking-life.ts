import { setTimeout as sleep } from 'node:timers/promises';
import { stake, startChain, type TestChain } from '#libs/testing/chain';
import { HistoryMaker, randomOf } from '../../apps/indexer/test/history.js';
import { WALLET } from '../restarts/served-index.js';

/** Blocks are hours apart. The early start keeps thousands of them out of the future, which the indexer rejects. */
const START = 1_500_000_000;
const PAUSE_MS = 400;
const REORGANISES_ONE_IN = 12;
/** Depth of the deepest reorganisation: less than the depth that the indexer considers final. */
const DEEPEST = 8;

/** A chain on which wallets stake and withdraw all the time, with a reorganisation now and then. */
export class StakingLife {
  private stopping = false;
  private readonly living: Promise<void>;

  private constructor(
    readonly chain: TestChain,
    private readonly history: HistoryMaker,
    private readonly random: (below: number) => number,
  ) {
    this.living = this.live();
    // `end` reports the error.
    this.living.catch(() => undefined);
  }

  /** Starts the chain. The wallet that the API is asked for has a stake. */
  static async start(seed: number): Promise<StakingLife> {
    const chain = await startChain({ deployedSeconds: START });
    const random = randomOf(seed);
    const history = new HistoryMaker(random, START + 10);
    await chain.player.block(START + 10, stake(WALLET, 1_000_000n));
    await chain.player.play(history.blocks(100));
    return new StakingLife(chain, history, random);
  }

  /** Stops making blocks. @throws the error that stopped them earlier */
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
