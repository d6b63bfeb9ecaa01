import { type DevChain } from '#libs/devchain';
import { LocalChain } from '../chain/local-chain.js';
import { type StackContext } from '../context.js';
import { StackError } from '../stack.error.js';

export interface StackChain {
  /** Absent where RPC_URLS names the chain. */
  readonly local?: LocalChain;
  /** What the indexer has to be told of a local chain. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it is told where the environment of the stack says nothing else. */
  readonly defaults: Readonly<Record<string, string>>;
}

const CHAIN_VARIABLES = {
  CHAIN_ID: 'chainId',
  STAKE_CONTRACT: 'stakeContract',
  STAKE_START_BLOCK: 'stakeStartBlock',
  TOKEN_CONTRACT: 'tokenContract',
} as const;

/** The chain of RPC_URLS, else a local one. */
export async function startChain(context: StackContext): Promise<StackChain> {
  const { settings, screen, clock, paths } = context;
  const names = Object.entries(CHAIN_VARIABLES);
  if (settings.rpcUrls !== undefined) {
    const missing = names.filter(([, property]) => settings[property] === undefined);
    if (missing.length > 0) {
      throw new StackError(
        `RPC_URLS is set: set ${missing.map(([name]) => name).join(' and ')} as well, or unset it to use a local chain.`,
      );
    }
    screen.step('chain', `the one of RPC_URLS, chain id ${settings.chainId ?? ''}`);
    return { environment: {}, defaults: {} };
  }
  const surplus = names.filter(([, property]) => settings[property] !== undefined);
  if (surplus.length > 0) {
    throw new StackError(
      `${surplus.map(([name]) => name).join(' and ')} is set and RPC_URLS is not: set RPC_URLS as well, or unset the rest to use a local chain.`,
    );
  }
  const local = await LocalChain.start(paths.chain, {
    clock,
    screen,
    onLaunched: (chain) => {
      watch(chain, context);
    },
  });
  const { staking, token, startBlock } = local.contracts;
  screen.step('chain', `local, at ${local.chain.url}`);
  return {
    local,
    environment: {
      RPC_URLS: local.chain.url,
      CHAIN_ID: String(local.chain.chainId),
      STAKE_CONTRACT: staking,
      STAKE_START_BLOCK: String(startBlock),
      TOKEN_CONTRACT: token,
    },
    defaults: { PRICE_SOURCE: 'fixed:0.0001' },
  };
}

function watch(chain: DevChain, { closers, died }: StackContext): void {
  let stopping = false;
  closers.add('the local chain', () => {
    stopping = true;
    return chain.stop();
  });
  void chain.exited.then(({ code, signal, tail }) => {
    if (!stopping) died(`The local chain ended with ${String(signal ?? code)}: ${tail}`);
  });
}
