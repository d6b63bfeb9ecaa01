/** Starts or attaches the stack's chain, and keeps a local chain active. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addressOfKey,
  type DevChain,
  type DevChainExit,
  type DevChainOptions,
  DevRpc,
  mintPrivateKey,
  StakeEventsMissingError,
} from '#libs/devchain';
import { type Address } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { keepRunning, type StackContext } from '../context.js';
import { type StackSettings } from '../stack.env.js';
import { StackError } from '../stack.error.js';
import { Crowd, Random } from './history.js';
import { LocalChain } from './local-chain.js';
import {
  chainVariables,
  priceVariables,
  registryVariables,
  vaultVariables,
} from './local-environment.js';

export interface StackChain {
  /** Absent where RPC_URLS names the chain. */
  readonly local?: LocalChain;
  /** Wallets of a local chain that have points and do not stake. */
  readonly redeemers: readonly Address[];
  /** Variables of the services for a local chain. */
  readonly environment: Readonly<Record<string, string>>;
  /** Further variables of the redemption service; absent where redemptions cannot be paid. */
  readonly vault?: Readonly<Record<string, string>>;
  /** Variables of the redemption service for a registry to publish in. */
  readonly registry?: Readonly<Record<string, string>>;
  /** Variables for which the environment of the stack takes precedence. */
  readonly defaults: Readonly<Record<string, string>>;
}

const CHAIN_VARIABLES = {
  CHAIN_ID: 'chainId',
  STAKE_CONTRACT: 'stakeContract',
  STAKE_START_BLOCK: 'stakeStartBlock',
  TOKEN_CONTRACT: 'tokenContract',
} as const;
const VAULT = ['VAULT_CONTRACT', 'vaultContract'] as const;

/** The chain of RPC_URLS, else a local one. */
export async function startChain(context: StackContext): Promise<StackChain> {
  const { settings, screen } = context;
  const names = Object.entries(CHAIN_VARIABLES);
  if (settings.rpcUrls !== undefined) {
    const missing = names.filter(([, property]) => settings[property] === undefined);
    if (missing.length > 0) {
      throw new StackError(
        `RPC_URLS is set: set ${missing.map(([name]) => name).join(' and ')} as well, or unset it to use a local chain.`,
      );
    }
    screen.step('chain', `the one of RPC_URLS, chain id ${settings.chainId ?? ''}`);
    const outside = { environment: {}, defaults: {}, redeemers: [] };
    if (canRedeem(settings)) return { ...outside, vault: {} };
    screen.step('chain', 'VAULT_CONTRACT or VOUCHER_SIGNER_KEY is not set: no redemptions');
    return outside;
  }
  const surplus = [...names, VAULT].filter(([, property]) => settings[property] !== undefined);
  if (surplus.length > 0) {
    throw new StackError(
      `${surplus.map(([name]) => name).join(' and ')} is set and RPC_URLS is not: set RPC_URLS as well, or unset the rest to use a local chain.`,
    );
  }
  return startLocal(context);
}

async function startLocal(context: StackContext): Promise<StackChain> {
  const { screen, clock, paths, file } = context;
  const voucherSignerKey = file.content.voucherSignerKey ?? mintPrivateKey();
  const registryPrivateKey = file.content.registryPrivateKey ?? mintPrivateKey();
  await file.set({ voucherSignerKey, registryPrivateKey });
  const local = await LocalChain.start(paths.chain, {
    clock,
    screen,
    signer: addressOfKey(voucherSignerKey),
    publisher: addressOfKey(registryPrivateKey),
    onLaunched: (chain) => {
      keepRunning(context, {
        name: 'the local chain',
        stop: () => chain.stop(),
        ended: chain.exited,
        report: async () => {
          const { code, signal, tail } = await chain.exited;
          return `The local chain ended with ${String(signal ?? code)}: ${tail}`;
        },
      });
    },
  });
  screen.step('chain', `local, at ${local.chain.url}`);
  return {
    local,
    redeemers: await local.redeemers(),
    environment: chainVariables(local.facts),
    vault: {
      ...vaultVariables(local.facts),
      VOUCHER_SIGNER_KEY: voucherSignerKey,
      VAULT_CANCELLER_KEY: voucherSignerKey,
    },
    ...(local.registry && {
      registry: { ...registryVariables(local.registry), REGISTRY_PRIVATE_KEY: registryPrivateKey },
    }),
    defaults: priceVariables(context.settings.priceSource),
  };
}

/** Whether redemptions can be paid: always on a local chain, else where a vault and a signer are set. */
export function canRedeem({ rpcUrls, vaultContract, voucherSignerKey }: StackSettings): boolean {
  return rpcUrls === undefined || (vaultContract !== undefined && voucherSignerKey !== undefined);
}

const BLOCK_EVERY_MS = 2_000;
const SAVE_EVERY_BLOCKS = 30n;

/**
 * Keeps the chain active: a block every two seconds with the current time, staking events in about every third, and the
 * state saved every 30 blocks (a minute, or less where others mine too). When `signal` aborts, the state is saved once
 * more and the promise resolves.
 */
export async function liveActivity(
  local: LocalChain,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const random = new Random(clock.nowMs());
  const activity = new Activity(local, random);
  let saved = await local.player.head();
  while (!signal.aborted) {
    const startedMs = clock.nowMs();
    const head = random.chance(0.35) ? await activity.move() : await local.mine();
    if (head - saved >= SAVE_EVERY_BLOCKS) {
      await local.save();
      saved = head;
    }
    const restMs = Math.max(0, BLOCK_EVERY_MS - (clock.nowMs() - startedMs));
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }
  await local.save();
}

/** The spontaneous staking of a local chain's wallets, in addition to transactions that others make for them. */
export class Activity {
  private crowd: Crowd | undefined;

  constructor(
    private readonly local: LocalChain,
    private readonly random: Random,
  ) {}

  /**
   * Mines one block with some stakes and withdrawals. These may fail where others moved the same wallets: in this case
   * the stakes are read again. @returns the block's number
   */
  async move(): Promise<bigint> {
    const { local, random } = this;
    this.crowd ??= new Crowd(random, local.wallets, await local.staked());
    try {
      return await local.mine(...this.crowd.transactions(1, 3));
    } catch (error) {
      if (!(error instanceof StakeEventsMissingError)) throw error;
      this.crowd = undefined;
      return local.player.head();
    }
  }
}

const TRIES = 60;
const PAUSE_MS = 1_000;
const LOOK_EVERY_MS = 2_000;

/**
 * Attaches to a chain that another process runs, with a chain id of its own. The chain has to hold the state of
 * `options.stateFile`; without a file it has to be new.
 * @throws StackError where the chain does not answer within a minute, or holds another state than expected
 */
export async function attachChain(url: string, options: DevChainOptions): Promise<DevChain> {
  const rpc = new DevRpc(url);
  const head = await newestBlock(rpc);
  if ((head === 0) !== (options.stateFile === undefined)) {
    rpc.close();
    throw new StackError(
      head === 0
        ? 'The chain began from its first block though its state was saved: restart it, so that it reads the saved state.'
        : 'The chain holds the rest of a history that was never finished: restart it, so that it begins from the first block.',
    );
  }
  const ending = new AbortController();
  return {
    url,
    chainId: Number(await rpc.call<string>('eth_chainId')),
    pid: 0,
    rpc,
    exited: watch(rpc, await instanceOf(rpc), ending.signal),
    stop: () => {
      ending.abort();
      rpc.close();
      return Promise.resolve();
    },
  };
}

/** Resolves when the chain is gone or was restarted. A restart can be too quick to make a call fail. */
async function watch(rpc: DevRpc, instance: string, signal: AbortSignal): Promise<DevChainExit> {
  const ended = (tail: string): DevChainExit => ({ code: null, signal: null, tail });
  try {
    while (!signal.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false });
      if ((await instanceOf(rpc)) !== instance) return ended('it was started again');
    }
  } catch (error) {
    if (!signal.aborted) return ended(`it does not answer: ${String(error)}`);
  }
  return ended('');
}

/** Id of the running anvil process; each start has another one. */
async function instanceOf(rpc: DevRpc): Promise<string> {
  return (await rpc.call<{ readonly instanceId: string }>('anvil_metadata')).instanceId;
}

async function newestBlock(rpc: DevRpc): Promise<number> {
  for (let left = TRIES; ; left--) {
    try {
      return Number(await rpc.call<string>('eth_blockNumber'));
    } catch (cause) {
      if (left === 0) throw new StackError(`The chain at ${rpc.url} does not answer.`, { cause });
      await sleep(PAUSE_MS);
    }
  }
}
