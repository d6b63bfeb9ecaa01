/** Deploys our contracts on a real chain. libs/devchain sets up local chains. */
import { encodeDeployData } from 'viem';
import { type Address, isUnheldAddress, PermanentError } from '#libs/domain';
import { redemptionVaultAbi, redemptionVaultBytecode } from '../abi/redemption-vault.generated.js';
import {
  snapshotRegistryAbi,
  snapshotRegistryBytecode,
  snapshotRegistryRuntime,
} from '../abi/snapshot-registry.generated.js';
import { accountOf } from '../accounts/private-key.js';
import { stakedInText } from '../registry/registry-facts.js';
import { type Hex } from '../rpc/hex.js';
import { isVaultCode } from '../vault/vault-facts.js';
import { type Deployed, DeploymentNode, type DeploymentPlace } from './deployment-node.js';

interface VaultDeployment extends DeploymentPlace {
  readonly token: Address;
  readonly admin: Address;
  readonly signer: Address;
  readonly canceller: Address;
  readonly pauser: Address;
  readonly windowSeconds: bigint;
  /** In the token's smallest unit. */
  readonly windowCap: bigint;
  /**
   * Seconds by which a voucher's deadline may be after the block of its claim; VOUCHER_TTL_SECONDS must not be longer.
   */
  readonly maxTtlSeconds: bigint;
  /** Seconds that another account waits for DEFAULT_ADMIN_ROLE. */
  readonly adminDelaySeconds: number;
}

const VAULT = {
  code: 'VAULT',
  name: 'vault',
  source: 'contracts/src/RedemptionVault.sol',
  isCode: isVaultCode,
};

/**
 * @param deployerKey pays for the transaction, and holds no role afterwards unless it is named for one
 * @throws PermanentError ROLE_UNHELD; as DeploymentNode.deploy
 */
export async function deployVault(
  deployment: VaultDeployment,
  deployerKey: string,
): Promise<Omit<Deployed, 'address'> & { readonly vault: Address }> {
  const { token, admin, signer, canceller, pauser } = deployment;
  const { windowSeconds, windowCap, maxTtlSeconds, adminDelaySeconds } = deployment;
  requireHeld({ admin, signer, canceller, pauser }, [token]);
  const account = accountOf(deployerKey);
  const roles = {
    admin: admin as Hex,
    signer: signer as Hex,
    canceller: canceller as Hex,
    pauser: pauser as Hex,
  };
  const data = encodeDeployData({
    abi: redemptionVaultAbi,
    bytecode: redemptionVaultBytecode,
    args: [token as Hex, roles, { windowSeconds, windowCap, maxTtlSeconds, adminDelaySeconds }],
  });
  const node = new DeploymentNode(deployment, VAULT);
  const { address: vault, ...rest } = await node.deploy(account, data);
  return { vault, ...rest };
}

interface RegistryDeployment extends DeploymentPlace {
  readonly admin: Address;
  readonly publisher: Address;
  /** Seconds that another account waits for DEFAULT_ADMIN_ROLE. */
  readonly adminDelaySeconds: number;
  /** STAKE_CONTRACT of the stake set, and CHAIN_ID of its indexer. */
  readonly stakeContracts: readonly Address[];
  readonly stakeChainId: number;
}

const REGISTRY = {
  code: 'REGISTRY',
  name: 'registry',
  source: 'contracts/src/SnapshotRegistry.sol',
  isCode: (code: string): boolean =>
    code.toLowerCase().slice(2) ===
    snapshotRegistryBytecode.slice(-snapshotRegistryRuntime.bytes * 2),
};

/**
 * @param deployerKey pays for the transaction, and holds no role afterwards unless it is named for one
 * @throws PermanentError ROLE_UNHELD; as DeploymentNode.deploy
 */
export async function deployRegistry(
  deployment: RegistryDeployment,
  deployerKey: string,
): Promise<Omit<Deployed, 'address'> & { readonly registry: Address; readonly stakedIn: string }> {
  const { admin, publisher, adminDelaySeconds, stakeContracts, stakeChainId } = deployment;
  requireHeld({ admin, publisher }, stakeContracts);
  const account = accountOf(deployerKey);
  const stakedIn = stakedInText(stakeChainId, stakeContracts);
  const data = encodeDeployData({
    abi: snapshotRegistryAbi,
    bytecode: snapshotRegistryBytecode,
    args: [admin as Hex, adminDelaySeconds, publisher as Hex, stakedIn],
  });
  const node = new DeploymentNode(deployment, REGISTRY);
  const { address: registry, ...rest } = await node.deploy(account, data);
  return { registry, stakedIn, ...rest };
}

/** A role of an address without a holder could never be used, and some roles cannot be given to another account. */
function requireHeld(
  roles: Readonly<Record<string, Address>>,
  contracts: readonly Address[],
): void {
  for (const [role, holder] of Object.entries(roles)) {
    if (!isUnheldAddress(holder, contracts)) continue;
    const message = `${role}: ${holder} has no holder. Name an account of yours. Nothing was sent.`;
    throw new PermanentError('ROLE_UNHELD', message);
  }
}
