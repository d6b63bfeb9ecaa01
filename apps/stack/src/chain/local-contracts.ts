/** The contracts of ours on a local chain: the vault that pays, and the registry that holds the roots of days. */
import { stakedInText } from '#libs/chain';
import {
  deployLocalRegistry,
  deployLocalVault,
  type DevChain,
  type LocalVault,
  type StakingPlayer,
} from '#libs/devchain';
import { type Address } from '#libs/domain';
import { type LocalRegistry } from './local-environment.js';

/** A SnapshotRegistry, and who publishes in it. */
export interface ChainRegistry extends LocalRegistry {
  readonly publisher: Address;
}

/** A vault, and whose vouchers it pays. */
export interface ChainVault extends LocalVault {
  readonly signer: Address;
}

export async function vaultFor(
  { contracts: { token, treasury } }: StakingPlayer,
  { rpc }: DevChain,
  { signer, seconds }: { readonly signer: Address; readonly seconds: number },
): Promise<ChainVault> {
  const setup = { token, treasury, signer, canceller: signer };
  return { ...(await deployLocalVault(rpc, setup, seconds)), signer };
}

export async function registryFor(
  { contracts: { staking, treasury } }: StakingPlayer,
  { rpc, chainId }: DevChain,
  {
    publisher,
    seconds,
    firstDay,
  }: {
    readonly publisher: Address | undefined;
    readonly seconds: number;
    readonly firstDay: number;
  },
): Promise<{ readonly registry?: ChainRegistry }> {
  if (publisher === undefined) return {};
  const setup = { admin: treasury, publisher, stakedIn: stakedInText(chainId, [staking]) };
  const address = await deployLocalRegistry(rpc, setup, seconds);
  return { registry: { address, firstDay, publisher } };
}
