import { addressOfKey, type DevChain, mintPrivateKey } from '#libs/devchain';
import { LocalChain } from '../chain/local-chain.js';
import { type StackContext } from '../context.js';
import { type StackSettings } from '../stack.env.js';
import { StackError } from '../stack.error.js';

export interface StackChain {
  /** Absent where RPC_URLS names the chain. */
  readonly local?: LocalChain;
  /** What the indexer has to be told of a local chain. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the redemption service has to be told besides; absent where nothing can be redeemed. */
  readonly vault?: Readonly<Record<string, string>>;
  /** What it is told where the environment of the stack says nothing else. */
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
  const { settings, screen, clock, paths, file } = context;
  const names = Object.entries(CHAIN_VARIABLES);
  if (settings.rpcUrls !== undefined) {
    const missing = names.filter(([, property]) => settings[property] === undefined);
    if (missing.length > 0) {
      throw new StackError(
        `RPC_URLS is set: set ${missing.map(([name]) => name).join(' and ')} as well, or unset it to use a local chain.`,
      );
    }
    screen.step('chain', `the one of RPC_URLS, chain id ${settings.chainId ?? ''}`);
    if (canRedeem(settings)) return { environment: {}, defaults: {}, vault: {} };
    screen.step('chain', 'VAULT_CONTRACT or VOUCHER_SIGNER_KEY is not set: no redemptions');
    return { environment: {}, defaults: {} };
  }
  const surplus = [...names, VAULT].filter(([, property]) => settings[property] !== undefined);
  if (surplus.length > 0) {
    throw new StackError(
      `${surplus.map(([name]) => name).join(' and ')} is set and RPC_URLS is not: set RPC_URLS as well, or unset the rest to use a local chain.`,
    );
  }
  const voucherSignerKey = file.content.voucherSignerKey ?? mintPrivateKey();
  await file.set({ voucherSignerKey });
  const local = await LocalChain.start(paths.chain, {
    clock,
    screen,
    signer: addressOfKey(voucherSignerKey),
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
    vault: {
      VAULT_CONTRACT: local.vault.vault,
      VAULT_START_BLOCK: String(local.vault.startBlock),
      VOUCHER_SIGNER_KEY: voucherSignerKey,
      VAULT_CANCELLER_KEY: voucherSignerKey,
    },
    // The price is what its developer says it is, also when it is changed between two starts.
    defaults: {
      PRICE_SOURCE: 'fixed:0.15',
      PRICE_MAX_CHANGE: '999',
      PRICE_MAX_CHANGE_PER_HOUR: '999',
    },
  };
}

/** Whether redemptions can be paid: always on a local chain, else where it is said by what and with whose signature. */
export function canRedeem({ rpcUrls, vaultContract, voucherSignerKey }: StackSettings): boolean {
  return rpcUrls === undefined || (vaultContract !== undefined && voucherSignerKey !== undefined);
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
