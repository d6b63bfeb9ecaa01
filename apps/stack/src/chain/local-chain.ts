import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  deployStaking,
  type DevChain,
  launchDevChain,
  saveChainState,
  type StakingDeployment,
  StakingPlayer,
} from '#libs/devchain';
import { type Address, parseAddress, SECONDS_PER_DAY } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { readJson, writePrivateJson } from '../data/private-file.js';
import { grouped, type Screen } from '../screen/screen.js';
import { BUDGET, Crowd } from './crowd.js';
import { countEvents, makeHistory } from './history.js';
import { Random } from './random.js';

const SEED = 20_240_229;
const HISTORY_SECONDS = 42 * SECONDS_PER_DAY;
const HISTORY_BLOCKS = 1_350;
/** One account is the treasury. */
const CHAIN_OPTIONS = { accounts: 41, finalityDepth: 64 };

/** What must be known to go on with a saved chain. */
interface SavedChain {
  readonly chainId: number;
  readonly contracts: Omit<StakingDeployment, 'startBlock'> & { readonly startBlock: string };
  readonly wallets: readonly Address[];
}

export interface LocalChainHooks {
  readonly clock: Clock;
  readonly screen: Screen;
  /** Gets the chain as soon as it runs, long before it has its history; to stop it is the receiver's business. */
  readonly onLaunched: (chain: DevChain) => void;
}

/**
 * The chain of the stack. Its state is on disk from the moment it can be used and then every minute and at the end; blocks
 * younger than the file are lost when the machine dies. The services see that as a reorganisation, and as a minute is
 * fewer blocks than finality takes, as one they can follow.
 */
export class LocalChain {
  private constructor(
    readonly chain: DevChain,
    readonly player: StakingPlayer,
    readonly wallets: readonly Address[],
    private readonly stateFile: string,
  ) {}

  /** Goes on with the chain in the directory, or makes one with six weeks of history that ends now. */
  static async start(directory: string, hooks: LocalChainHooks): Promise<LocalChain> {
    await mkdir(directory, { recursive: true });
    const recordFile = join(directory, 'chain.json');
    const stateFile = join(directory, 'state.json');
    const saved = (await readJson(recordFile)) as SavedChain | undefined;
    if (saved !== undefined && existsSync(stateFile)) {
      return LocalChain.#resume(saved, stateFile, hooks);
    }
    const local = await LocalChain.#create(stateFile, hooks);
    await local.save();
    await writePrivateJson(recordFile, local.#record());
    return local;
  }

  static async #create(stateFile: string, hooks: LocalChainHooks): Promise<LocalChain> {
    const { clock, screen, onLaunched } = hooks;
    const toSeconds = Math.floor(clock.nowMs() / 1000);
    const fromSeconds = toSeconds - HISTORY_SECONDS;
    const chain = await launchDevChain({
      chainId: randomInt(1_000_000, 2 ** 31),
      genesisSeconds: fromSeconds - 3_600,
      ...CHAIN_OPTIONS,
    });
    onLaunched(chain);
    const contracts = await deployStaking(chain.rpc, fromSeconds - 3_600);
    const wallets = (await chain.rpc.call<string[]>('eth_accounts'))
      .map((text) => parseAddress(text))
      .filter((wallet) => wallet !== undefined)
      .filter((wallet) => wallet !== contracts.treasury);
    const player = new StakingPlayer(chain.rpc, contracts);
    await player.fund(wallets, BUDGET, fromSeconds - 1_800);
    const random = new Random(SEED);
    const blocks = makeHistory(random, new Crowd(random, wallets), {
      fromSeconds,
      toSeconds,
      blocks: HISTORY_BLOCKS,
      settledBy: CHAIN_OPTIONS.finalityDepth,
    });
    screen.step('chain', `plays six weeks of staking, ${grouped(blocks.length)} blocks`);
    await player.play(blocks, (done) => {
      screen.progress('chain', () => `${grouped(done)} of ${grouped(blocks.length)} blocks`);
    });
    const events = grouped(countEvents(blocks));
    screen.step('chain', `has ${events} staking events of ${wallets.length} wallets`);
    return new LocalChain(chain, player, wallets, stateFile);
  }

  static async #resume(
    saved: SavedChain,
    stateFile: string,
    { screen, onLaunched }: LocalChainHooks,
  ): Promise<LocalChain> {
    const { chainId, wallets, contracts } = saved;
    const chain = await launchDevChain({ chainId, stateFile, ...CHAIN_OPTIONS });
    onLaunched(chain);
    const startBlock = BigInt(contracts.startBlock);
    const player = new StakingPlayer(chain.rpc, { ...contracts, startBlock });
    player.assumeFunded(wallets);
    screen.step('chain', `goes on at block ${grouped(await player.head())}`);
    return new LocalChain(chain, player, wallets, stateFile);
  }

  get contracts(): StakingDeployment {
    return this.player.contracts;
  }

  /** What each wallet has staked now. */
  async staked(): Promise<Map<Address, bigint>> {
    const calls = this.wallets.map((wallet) => ({
      method: 'eth_call',
      // balanceOf(address)
      params: [
        { to: this.contracts.staking, data: `0x70a08231${wallet.slice(2).padStart(64, '0')}` },
        'latest',
      ],
    }));
    const answers = await this.chain.rpc.batch(calls);
    return new Map(this.wallets.map((wallet, at) => [wallet, BigInt(answers[at] as string)]));
  }

  save(): Promise<void> {
    return saveChainState(this.chain, this.stateFile);
  }

  #record(): SavedChain {
    const { startBlock, ...contracts } = this.contracts;
    return {
      chainId: this.chain.chainId,
      contracts: { ...contracts, startBlock: String(startBlock) },
      wallets: this.wallets,
    };
  }
}
