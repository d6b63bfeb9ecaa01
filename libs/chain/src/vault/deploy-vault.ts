/** Puts a vault on a real chain. Local chains are set up by libs/devchain. */
import {
  BaseError,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeDeployData,
  http,
  RpcRequestError,
} from 'viem';
import { type Address, parseAddress, PermanentError, RetryableError } from '#libs/domain';
import {
  redemptionVaultV2Abi,
  redemptionVaultV2Bytecode,
} from '../abi/redemption-vault-v2.generated.js';
import { classifyRpcError } from '../errors/classify-rpc-error.js';
import { redact, secretsOf } from '../errors/redact.js';
import { ExecutionRevertedError } from '../errors/rpc.errors.js';
import { isVaultCode } from './vault-facts.js';
import { accountOf } from './voucher.js';

type Hex = `0x${string}`;

interface VaultDeployment {
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
  /** How far a voucher's deadline may be after the block of its claim; VOUCHER_TTL_SECONDS must not be longer. */
  readonly maxTtlSeconds: bigint;
  /** How long another account waits for DEFAULT_ADMIN_ROLE. */
  readonly adminDelaySeconds: number;
}

interface DeployedVault {
  readonly vault: Address;
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly deployer: Address;
}

/**
 * Nothing is sent to a chain that cannot run the vault, and no vault is returned whose code is not what was compiled.
 * @param deployerKey pays for the transaction and holds no role afterwards, unless it is named as one
 * @returns once the transaction is in a block
 * @throws PermanentError where a setting is wrong, the chain cannot run the vault (VAULT_CHAIN_UNSUITABLE), the transaction fails or
 *   the code is not the vault's; RetryableError where the node cannot be asked. No message holds the key or the URL.
 */
export async function deployVault(
  deployment: VaultDeployment,
  deployerKey: string,
): Promise<DeployedVault> {
  const account = accountOf(deployerKey);
  const node = new Node(deployment);
  const data = creationOf(deployment);
  await node.verifyChain();
  const gas = await node.estimate(account.address, data);
  const transactionHash = await node.asked('the deployment', () =>
    node.writer.sendTransaction({ account, data, gas }),
  );
  const { vault, blockNumber } = await node.deployed(transactionHash);
  const deployer = account.address.toLowerCase() as Address;
  return { vault, transactionHash, blockNumber, deployer };
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

/** The node, as far as a deployment needs it. */
class Node {
  readonly writer;
  private readonly reader;
  private readonly chainId: number;
  private readonly secrets: readonly string[];

  constructor({ rpcUrl, chainId }: VaultDeployment) {
    const chain = defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    });
    const transport = http(rpcUrl);
    this.chainId = chainId;
    this.secrets = secretsOf(new URL(rpcUrl));
    this.reader = createPublicClient({ chain, transport });
    this.writer = createWalletClient({ chain, transport });
  }

  /** @throws PermanentError where it is another chain, or one that cannot run the vault */
  async verifyChain(): Promise<void> {
    const actual = await this.asked('eth_chainId', () => this.reader.getChainId());
    if (actual !== this.chainId) {
      throw new PermanentError(
        'RPC_CHAIN_MISMATCH',
        `The node serves chain ${actual}, not ${this.chainId}. Correct rpcUrl or chainId.`,
      );
    }
    await requireSuitableChain(this.chainId, (data) => this.refusalOf(data));
  }

  /** @returns the gas of the whole deployment, which is run for this without being sent */
  async estimate(from: Hex, data: Hex): Promise<bigint> {
    return this.asked('the estimate of the deployment', () =>
      this.reader.estimateGas({ account: from, data }),
    );
  }

  /** @throws PermanentError where the transaction failed or left other code than the vault's */
  async deployed(hash: Hex): Promise<{ readonly vault: Address; readonly blockNumber: bigint }> {
    const receipt = await this.asked(
      `the receipt of ${hash}, which was sent and may still count,`,
      () => this.reader.waitForTransactionReceipt({ hash }),
    );
    const { blockNumber, status } = receipt;
    const vault = parseAddress(receipt.contractAddress ?? '');
    if (status !== 'success' || !vault) {
      throw new PermanentError('VAULT_NOT_DEPLOYED', `The transaction ${hash} failed.`);
    }
    const code = await this.asked(`the code of ${vault}, which transaction ${hash} created,`, () =>
      this.reader.getCode({ address: vault as Hex, blockNumber }),
    );
    if (!isVaultCode(code ?? '0x')) {
      throw new PermanentError(
        'VAULT_CODE_DIFFERS',
        `The code at ${vault} is not the compiled vault (transaction ${hash}). Do not use it and send it no tokens: the chain changed the bytecode, or the node is wrong; ask another node with eth_getCode.`,
      );
    }
    return { vault, blockNumber };
  }

  /** Without the library's message, which quotes the URL and the request. */
  async asked<T>(what: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof BaseError)) throw error;
      const refusal = this.refusal(error);
      if (refusal) refuseWhereToIsRequired(this.chainId, refusal);
      const reason = refusal?.text ?? error.shortMessage;
      throw new RetryableError('VAULT_DEPLOYMENT_FAILED', `${what} failed: ${reason}`);
    }
  }

  private async refusalOf(data: Hex): Promise<NodeRefusal | undefined> {
    try {
      await this.reader.request({ method: 'eth_call', params: [{ data }, 'latest'] });
      return undefined;
    } catch (error) {
      const refusal = error instanceof BaseError ? this.refusal(error) : undefined;
      return refusal ?? this.asked('eth_call', () => Promise.reject(error as Error));
    }
  }

  /** What the node answered, where it answered at all. */
  private refusal(error: BaseError): NodeRefusal | undefined {
    const answer = error.walk((cause) => cause instanceof RpcRequestError);
    if (!(answer instanceof RpcRequestError)) return undefined;
    const { code, details: message, data } = answer;
    const context = { endpoint: '', secrets: this.secrets, call: { method: '', params: [] } };
    const kind = classifyRpcError({ code, message, data }, context);
    return {
      text: redact(message, this.secrets),
      isRevert: kind instanceof ExecutionRevertedError,
    };
  }
}

/** An error that a node answered with. */
interface NodeRefusal {
  /** Holds no secret. */
  readonly text: string;
  /** It speaks of the program that was run, not of the request. */
  readonly isRevert: boolean;
}

/** STOP: creates nothing, and fails only where the form is refused. */
const EMPTY_PROGRAM = '0x00';

/** What solc uses for `evmVersion: cancun`, and what the vault's guard against re-entry is made of (EIP-1153). */
const OPCODES: readonly { readonly name: string; readonly upgrade: string; readonly code: Hex }[] =
  [
    { name: 'PUSH0', upgrade: 'Shanghai', code: '0x5f00' },
    { name: 'MCOPY', upgrade: 'Cancun', code: '0x6000600060005e00' },
    { name: 'TLOAD', upgrade: 'Cancun', code: '0x60005c00' },
    { name: 'TSTORE', upgrade: 'Cancun', code: '0x600060005d00' },
  ];

/**
 * zksync-era (core/lib/types/src/transaction_request.rs): a transaction without `to` creates a contract of EVM bytecode, and is refused
 * so where the chain has no EVM emulator.
 */
const TO_REQUIRED = /toaddressisnull|to.?address is null|missing (?:field )?[`'"]to[`'"]/i;

/**
 * Whether a chain can run the vault's bytecode, asked before anything is sent. Every opcode is tried: a chain of before Cancun may take the deployment, and the vault's first claim would fail.
 * @param call runs code without sending it; undefined where that succeeds
 * @throws PermanentError VAULT_CHAIN_UNSUITABLE; RetryableError where the node cannot tell
 */
async function requireSuitableChain(
  chainId: number,
  call: (data: Hex) => Promise<NodeRefusal | undefined>,
): Promise<void> {
  const refusal = await call(EMPTY_PROGRAM);
  if (refusal !== undefined) {
    // Some nodes refuse the form and yet take deployments: the estimate that follows decides.
    refuseWhereToIsRequired(chainId, refusal);
    return;
  }
  for (const { name, upgrade, code } of OPCODES) {
    const failure = await call(code);
    if (failure === undefined) continue;
    if (!failure.isRevert) {
      throw new RetryableError('VAULT_DEPLOYMENT_FAILED', `eth_call failed: ${failure.text}`);
    }
    throw unsuitable(
      `Chain ${chainId} does not know the opcode ${name} (${upgrade}), which the vault uses. Nothing was sent. The vault needs a chain with the Cancun upgrade of Ethereum.`,
    );
  }
}

/** @throws PermanentError VAULT_CHAIN_UNSUITABLE where that is what the node says */
function refuseWhereToIsRequired(chainId: number, { text }: NodeRefusal): void {
  if (!TO_REQUIRED.test(text)) return;
  throw unsuitable(
    `Chain ${chainId} takes no EVM bytecode: it is a ZK Stack chain without the EVM emulator. Nothing was sent. Compile contracts/src/RedemptionVaultV2.sol with zksolc and deploy that with the chain's own tools; docs/operating/chains.md says how.`,
  );
}

function unsuitable(message: string): PermanentError {
  return new PermanentError('VAULT_CHAIN_UNSUITABLE', message);
}
