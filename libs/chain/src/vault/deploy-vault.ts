/** Puts a vault on a real chain. Local chains are set up by libs/devchain. */
import { BaseError, createPublicClient, createWalletClient, defineChain, http } from 'viem';
import { type Address, parseAddress, PermanentError, RetryableError } from '#libs/domain';
import { redemptionVaultAbi, redemptionVaultBytecode } from '../abi/redemption-vault.generated.js';
import { accountOf } from './voucher-signer.js';

type Hex = `0x${string}`;

export interface VaultDeployment {
  readonly rpcUrl: string;
  /** Checked against the node before anything is sent. */
  readonly chainId: number;
  readonly token: Address;
  readonly admin: Address;
  readonly signer: Address;
  readonly canceller: Address;
  readonly pauser: Address;
  readonly windowSeconds: bigint;
  /** In the token's smallest unit. */
  readonly windowCap: bigint;
}

export interface DeployedVault {
  readonly vault: Address;
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly deployer: Address;
}

/**
 * @param deployerKey pays for the transaction and holds no role afterwards, unless it is named as one
 * @returns once the transaction is in a block
 * @throws PermanentError where a setting is wrong or the transaction fails; RetryableError where the node cannot be asked. No message
 *   holds the key or the URL.
 */
export async function deployVault(
  deployment: VaultDeployment,
  deployerKey: string,
): Promise<DeployedVault> {
  const { rpcUrl, chainId, token, admin, signer, canceller, pauser } = deployment;
  const account = accountOf(deployerKey);
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const transport = http(rpcUrl);
  const reader = createPublicClient({ chain, transport });
  const actual = await asked('eth_chainId', () => reader.getChainId());
  if (actual !== chainId) {
    throw new PermanentError(
      'RPC_CHAIN_MISMATCH',
      `The node serves chain ${actual}, not ${chainId}. Correct rpcUrl or chainId.`,
    );
  }
  const roles = {
    admin: admin as Hex,
    signer: signer as Hex,
    canceller: canceller as Hex,
    pauser: pauser as Hex,
  };
  const writer = createWalletClient({ account, chain, transport });
  const hash = await asked('the deployment', () =>
    writer.deployContract({
      abi: redemptionVaultAbi,
      bytecode: redemptionVaultBytecode,
      args: [token as Hex, roles, deployment.windowSeconds, deployment.windowCap],
    }),
  );
  const receipt = await asked(`the receipt of ${hash}`, () =>
    reader.waitForTransactionReceipt({ hash }),
  );
  const vault = parseAddress(receipt.contractAddress ?? '');
  if (receipt.status !== 'success' || !vault) {
    throw new PermanentError('VAULT_NOT_DEPLOYED', `The transaction ${hash} failed.`);
  }
  const deployer = account.address.toLowerCase() as Address;
  return { vault, transactionHash: hash, blockNumber: receipt.blockNumber, deployer };
}

/** Without the library's message, which quotes the URL and the request. */
async function asked<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    throw new RetryableError('VAULT_DEPLOYMENT_FAILED', `${what} failed: ${error.shortMessage}`);
  }
}
