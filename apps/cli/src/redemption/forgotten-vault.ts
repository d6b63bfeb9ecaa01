/** Vaults of which a restored ledger knows nothing: named by the operator, and believed only where a vault answers. */
import { InvalidArgumentError } from 'commander';
import { readVaultFacts, RpcPool } from '#libs/chain';
import { readSettings, type SettingsSource } from '#libs/config';
import { type KnownVault } from '#libs/db';
import { parseAddress } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { EvidenceSettings } from '../cli.env.js';
import { OptionError } from '../option.error.js';

export interface ForgottenVaults {
  readonly chainId: number;
  readonly vaults: readonly KnownVault[];
}

const VAULT = /^(0x[0-9a-f]{40})(?::(\d{1,15}))?$/i;
const TIMEOUT_MS = 10_000;

/** `ADDRESS` or `ADDRESS:START_BLOCK`, as one more of a list. */
export function vaultOption(text: string, before: readonly KnownVault[] = []): KnownVault[] {
  const [, address = '', startBlock = '0'] = VAULT.exec(text) ?? [];
  const vault = parseAddress(address);
  if (vault === undefined) {
    throw new InvalidArgumentError('Expected ADDRESS or ADDRESS:START_BLOCK.');
  }
  return [...before, { vault, startBlock: BigInt(startBlock) }];
}

/**
 * The chain must know all of them: points would wait for ever for a vault that is none.
 * @throws SettingsError, OptionError; ChainMismatchError, AllEndpointsFailedError
 */
export async function forgottenVaults(
  vaults: readonly KnownVault[],
  source: SettingsSource,
  clock: Clock,
): Promise<ForgottenVaults | undefined> {
  if (vaults.length === 0) return undefined;
  const { rpcUrls, chainId, tokenContract: token } = readSettings(EvidenceSettings, source);
  const pool = new RpcPool({ urls: rpcUrls, clock, timeoutMs: TIMEOUT_MS });
  await pool.verifyChainId(chainId);
  for (const { vault } of vaults) {
    const facts = await readVaultFacts(pool, { place: { chainId, vault }, token, signer: vault });
    if (!facts.takesOurVouchers || facts.token === undefined) {
      throw new OptionError(`--vault: ${vault} is not a redemption vault of chain ${chainId}.`);
    }
  }
  return { chainId, vaults };
}
