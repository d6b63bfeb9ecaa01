/** Puts a vault on a real chain. Local chains are set up by libs/devchain. */
import { encodeDeployData } from 'viem';
import { type Address } from '#libs/domain';
import {
  redemptionVaultV2Abi,
  redemptionVaultV2Bytecode,
} from '../abi/redemption-vault-v2.generated.js';
import {
  deployContract,
  type Deployed,
  DeploymentNode,
  type DeploymentPlace,
} from '../deployment/deployment-node.js';
import { isVaultCode } from './vault-facts.js';
import { accountOf } from '../accounts/private-key.js';
import { type Hex } from '../shape/hex.js';

interface VaultDeployment extends DeploymentPlace {
  readonly token: Address;
  readonly admin: Address;
  readonly signer: Address;
  readonly canceller: Address;
  readonly pauser: Address;
  readonly windowSeconds: bigint;
  /** In the token's smallest unit. */
  readonly windowCap: bigint;
  /** How far a voucher's deadline may be after the block of its claim; VOUCHER_TTL_SECONDS must not be longer. */
  readonly maxTtlSeconds: bigint;
  /** How long another account waits for DEFAULT_ADMIN_ROLE. */
  readonly adminDelaySeconds: number;
}

interface DeployedVault extends Omit<Deployed, 'address'> {
  readonly vault: Address;
}

const VAULT = {
  code: 'VAULT',
  name: 'vault',
  source: 'contracts/src/RedemptionVaultV2.sol',
  isCode: isVaultCode,
};

/**
 * @param deployerKey pays for the transaction and holds no role afterwards, unless it is named as one
 * @see deployContract
 */
export async function deployVault(
  deployment: VaultDeployment,
  deployerKey: string,
): Promise<DeployedVault> {
  const account = accountOf(deployerKey);
  const node = new DeploymentNode(deployment, VAULT);
  const { address: vault, ...rest } = await deployContract(node, account, creationOf(deployment));
  return { vault, ...rest };
}

function creationOf(deployment: VaultDeployment): Hex {
  const { token, admin, signer, canceller, pauser } = deployment;
  const { windowSeconds, windowCap, maxTtlSeconds, adminDelaySeconds } = deployment;
  const roles = {
    admin: admin as Hex,
    signer: signer as Hex,
    canceller: canceller as Hex,
    pauser: pauser as Hex,
  };
  return encodeDeployData({
    abi: redemptionVaultV2Abi,
    bytecode: redemptionVaultV2Bytecode,
    args: [token as Hex, roles, { windowSeconds, windowCap, maxTtlSeconds, adminDelaySeconds }],
  });
}
