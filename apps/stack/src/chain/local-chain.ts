import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { stakedInText } from '#libs/chain';
import {
  deployLocalRegistry,
  deployLocalVault,
  deployStaking,
  type DevChain,
  type DevChainOptions,
  launchDevChain,
  type LocalVault,
  saveChainState,
  type StakeTransaction,
  type StakingDeployment,
  StakingPlayer,
} from '#libs/devchain';
import { type Address, dayOf, parseAddress, SECONDS_PER_DAY } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { readJson, writePrivateJson } from '../data/stack-file.js';
import { grouped, type Screen } from '../context.js';
import { BUDGET, countEvents, Crowd, makeHistory, Random } from './history.js';
import { type LocalFacts, type LocalRegistry } from './local-environment.js';

const SEED = 20_240_229;
const HISTORY_SECONDS = 42 * SECONDS_PER_DAY;
const HISTORY_BLOCKS = 1_350;
/** 44 accounts: the treasury, the wallets that stake, and the wallets that redeem. */
const CHAIN_OPTIONS = { accounts: 44, finalityDepth: 64 };
const STAKING_WALLETS = 40;
/** Number of past days whose roots are published in the registry, each in a transaction of its own. */
const PUBLISHED_DAYS = 7;

interface ChainRegistry extends LocalRegistry {
  readonly publisher: Address;
}

interface ChainVault extends LocalVault {
  readonly signer: Address;
}

interface SavedChain {
  readonly chainId: number;
  readonly contracts: Omit<StakingDeployment, 'startBlock'> & { readonly startBlock: string };
  readonly wallets: readonly Address[];
  /** Absent in a chain that was saved by a version without a vault. */
  readonly vault?: {
    readonly address: Address;
    readonly startBlock: string;
    readonly signer: Address;
  };
  readonly registry?: ChainRegistry;
}

interface LocalChainHooks {
  readonly clock: Clock;
  readonly screen: Screen;
  /** Address whose vouchers the vault pays; it may also cancel them. */
  readonly signer: Address;
  /** Address that publishes the roots of days; without it there is no registry. */
  readonly publisher?: Address;
  /** Receives the chain as soon as it runs, long before its history is complete. The receiver has to stop the chain. */
  readonly onLaunched: (chain: DevChain) => void;
  /** Starts the chain, or attaches to a running one with these options. Default: a child process. */
  readonly launch?: (options: DevChainOptions) => Promise<DevChain>;
}

/**
 * The chain of the stack. Its state is written to disk once the chain is usable, every minute, and at the end; blocks
 * after the last save are lost when the machine fails. The services see the loss as a reorganisation, and can follow
 * it: a minute has fewer blocks than finality needs.
 */
export class LocalChain {
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly chain: DevChain,
    readonly player: StakingPlayer,
    /** Wallets that stake. */
    readonly wallets: readonly Address[],
    readonly vault: ChainVault,
    readonly registry: ChainRegistry | undefined,
    private readonly clock: Clock,
    private readonly stateFile: string,
  ) {}

  /** Resumes the chain in the directory, or creates one with six weeks of history up to now. */
  static async start(directory: string, hooks: LocalChainHooks): Promise<LocalChain> {
    await mkdir(directory, { recursive: true });
    const recordFile = join(directory, 'chain.json');
    const stateFile = join(directory, 'state.json');
    const saved = (await readJson(recordFile)) as SavedChain | undefined;
    const local =
      saved !== undefined && existsSync(stateFile)
        ? await LocalChain.#resume(saved, stateFile, hooks)
        : await LocalChain.#create(stateFile, hooks);
    await local.save();
    await writePrivateJson(recordFile, local.#record());
    return local;
  }

  static async #create(stateFile: string, hooks: LocalChainHooks): Promise<LocalChain> {
    const { clock, screen, signer, publisher, onLaunched, launch = launchDevChain } = hooks;
    const toSeconds = Math.floor(clock.nowMs() / 1000);
    const fromSeconds = toSeconds - HISTORY_SECONDS;
    const chain = await launch({
      chainId: randomInt(1_000_000, 2 ** 31),
      genesisSeconds: fromSeconds - 3_600,
      ...CHAIN_OPTIONS,
    });
    onLaunched(chain);
    const contracts = await deployStaking(chain.rpc, fromSeconds - 3_600);
    const wallets = (await accountsOf(chain)).slice(1, 1 + STAKING_WALLETS);
    const player = new StakingPlayer(chain.rpc, contracts);
    await player.fund(wallets, BUDGET, fromSeconds - 1_800);
    const vault = await vaultFor(player, chain, { signer, seconds: fromSeconds - 900 });
    const registry = await registryFor(player, chain, {
      ...{ publisher, seconds: fromSeconds - 900 },
      firstDay: dayOf(toSeconds) - PUBLISHED_DAYS,
    });
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
    return new LocalChain(chain, player, wallets, vault, registry, clock, stateFile);
  }

  static async #resume(
    saved: SavedChain,
    stateFile: string,
    { clock, screen, signer, publisher, onLaunched, launch = launchDevChain }: LocalChainHooks,
  ): Promise<LocalChain> {
    const { chainId, wallets, contracts } = saved;
    const chain = await launch({ chainId, stateFile, ...CHAIN_OPTIONS });
    onLaunched(chain);
    const startBlock = BigInt(contracts.startBlock);
    const player = new StakingPlayer(chain.rpc, { ...contracts, startBlock });
    player.markFunded(wallets);
    const seconds = await secondsNow(chain, clock);
    const vault =
      saved.vault?.signer === signer
        ? {
            vault: saved.vault.address,
            startBlock: BigInt(saved.vault.startBlock),
            signer,
          }
        : await vaultFor(player, chain, { signer, seconds });
    const registry =
      publisher !== undefined && saved.registry?.publisher === publisher
        ? saved.registry
        : await registryFor(player, chain, {
            ...{ publisher, seconds },
            firstDay: dayOf(seconds) - PUBLISHED_DAYS,
          });
    // A resumed chain has no state of older blocks. These empty blocks make its newest block final, so that the state
    // of the final block can be read.
    await player.mine(...quiet(seconds));
    screen.step('chain', `goes on at block ${grouped(await player.head())}`);
    return new LocalChain(chain, player, wallets, vault, registry, clock, stateFile);
  }

  get facts(): LocalFacts {
    const { chain, contracts, vault } = this;
    return { rpcUrl: chain.url, chainId: chain.chainId, contracts, vault };
  }

  /** Unlocked accounts that do not stake but redeem. */
  async redeemers(): Promise<Address[]> {
    return (await accountsOf(this.chain)).slice(1 + STAKING_WALLETS);
  }

  /** Mines one block with the current time. @returns its number */
  mine(...transactions: readonly StakeTransaction[]): Promise<bigint> {
    return this.#alone(async () => {
      return this.player.block(await secondsNow(this.chain, this.clock), ...transactions);
    });
  }

  /**
   * Makes all blocks of the chain final at once, instead of after two minutes. The state is saved first, because the
   * chain must not lose a final block when the machine fails.
   */
  async finalise(): Promise<void> {
    await this.#alone(async () => {
      const seconds = await secondsNow(this.chain, this.clock);
      await this.player.block(seconds);
      await saveChainState(this.chain, this.stateFile);
      await this.player.mine(...quiet(seconds));
      await saveChainState(this.chain, this.stateFile);
    });
  }

  get contracts(): StakingDeployment {
    return this.player.contracts;
  }

  async staked(): Promise<Map<Address, bigint>> {
    const calls = this.wallets.map((wallet) => balanceCall(this.contracts.staking, wallet));
    const answers = await this.chain.rpc.batch(calls);
    return new Map(this.wallets.map((wallet, at) => [wallet, BigInt(answers[at] as string)]));
  }

  /** Current token balance of a wallet, in the smallest unit. */
  async tokensOf(wallet: Address): Promise<bigint> {
    const { method, params } = balanceCall(this.contracts.token, wallet);
    return BigInt(await this.chain.rpc.call<string>(method, ...params));
  }

  save(): Promise<void> {
    return this.#alone(() => saveChainState(this.chain, this.stateFile));
  }

  /** Runs one piece of work at a time: concurrent work would mix its blocks, and block times could run backwards. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #record(): SavedChain {
    const { startBlock, ...contracts } = this.contracts;
    const { registry } = this;
    const { vault, signer, startBlock: vaultStartBlock } = this.vault;
    return {
      chainId: this.chain.chainId,
      contracts: { ...contracts, startBlock: String(startBlock) },
      wallets: this.wallets,
      vault: { address: vault, startBlock: String(vaultStartBlock), signer },
      ...(registry && { registry }),
    };
  }
}

function balanceCall(contract: Address, wallet: Address) {
  // Selector of balanceOf(address).
  const data = `0x70a08231${wallet.slice(2).padStart(64, '0')}`;
  return { method: 'eth_call', params: [{ to: contract, data }, 'latest'] };
}

async function accountsOf(chain: DevChain): Promise<Address[]> {
  const accounts = await chain.rpc.call<string[]>('eth_accounts');
  return accounts.map((text) => parseAddress(text)).filter((wallet) => wallet !== undefined);
}

/** Times of as many empty blocks as finality needs. */
function quiet(seconds: number): number[] {
  return new Array<number>(CHAIN_OPTIONS.finalityDepth).fill(seconds);
}

/** Time of the next block: now, but never before the newest block, because the system clock may be set back. */
async function secondsNow({ rpc }: DevChain, clock: Clock): Promise<number> {
  const head = await rpc.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
  return Math.max(Number(head.timestamp), Math.floor(clock.nowMs() / 1000));
}

async function vaultFor(
  { contracts: { token, treasury } }: StakingPlayer,
  { rpc }: DevChain,
  { signer, seconds }: { readonly signer: Address; readonly seconds: number },
): Promise<ChainVault> {
  const setup = { token, treasury, signer, canceller: signer };
  return { ...(await deployLocalVault(rpc, setup, seconds)), signer };
}

async function registryFor(
  { contracts: { staking, treasury } }: StakingPlayer,
  { rpc, chainId }: DevChain,
  given: { publisher: Address | undefined; seconds: number; firstDay: number },
): Promise<ChainRegistry | undefined> {
  const { publisher, seconds, firstDay } = given;
  if (publisher === undefined) return undefined;
  const setup = { admin: treasury, publisher, stakedIn: stakedInText(chainId, [staking]) };
  return { address: await deployLocalRegistry(rpc, setup, seconds), firstDay, publisher };
}
