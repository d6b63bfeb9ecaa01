/** Puts a SnapshotRegistry on a real chain. */
import { encodeDeployData } from 'viem';
import { type Address } from '#libs/domain';
import {
  snapshotRegistryAbi,
  snapshotRegistryBytecode,
  snapshotRegistryRuntime,
} from '../abi/snapshot-registry.generated.js';
import {
  deployContract,
  type Deployed,
  DeploymentNode,
  type DeploymentPlace,
} from '../deployment/deployment-node.js';
import { accountOf } from '../accounts/private-key.js';
import { stakedInText } from './registry-facts.js';
import { type Hex } from '../shape/hex.js';

interface RegistryDeployment extends DeploymentPlace {
  readonly admin: Address;
  readonly publisher: Address;
  /** How long another account waits for DEFAULT_ADMIN_ROLE. */
  readonly adminDelaySeconds: number;
  /** STAKE_CONTRACT of the stake set, and CHAIN_ID of its indexer. */
  readonly stakeContracts: readonly Address[];
  readonly stakeChainId: number;
}

interface DeployedRegistry extends Omit<Deployed, 'address'> {
  readonly registry: Address;
  readonly stakedIn: string;
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
 * @param deployerKey pays for the transaction and holds no role afterwards, unless it is named as one
 * @see deployContract
 */
export async function deployRegistry(
  deployment: RegistryDeployment,
  deployerKey: string,
): Promise<DeployedRegistry> {
  const { admin, publisher, adminDelaySeconds, stakeContracts, stakeChainId } = deployment;
  const account = accountOf(deployerKey);
  const stakedIn = stakedInText(stakeChainId, stakeContracts);
  const data = encodeDeployData({
    abi: snapshotRegistryAbi,
    bytecode: snapshotRegistryBytecode,
    args: [admin as Hex, adminDelaySeconds, publisher as Hex, stakedIn],
  });
  const node = new DeploymentNode(deployment, REGISTRY);
  const { address: registry, ...rest } = await deployContract(node, account, data);
  return { registry, stakedIn, ...rest };
}
