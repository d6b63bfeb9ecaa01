/** A node of a real chain, with the functions that the deployment of a contract needs. */
import {
  BaseError,
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  RpcRequestError,
} from 'viem';
import { type PrivateKeyAccount } from 'viem/accounts';
import { type Address, parseAddress, PermanentError, RetryableError } from '#libs/domain';
import { classifyRpcError } from '../rpc/classify-rpc-error.js';
import { redact, secretsOf } from '../rpc/redact.js';
import { ExecutionRevertedError } from '../rpc/rpc.errors.js';
import { type Hex } from '../rpc/hex.js';

export interface DeploymentPlace {
  readonly rpcUrl: string;
  /** Checked against the node before anything is sent. */
  readonly chainId: number;
}

interface DeployedContract {
  /** Prefix of the codes of errors: `VAULT`. */
  readonly code: string;
  readonly name: string;
  readonly source: string;
  readonly isCode: (code: string) => boolean;
}

export interface Deployed {
  readonly address: Address;
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly deployer: Address;
}

export class DeploymentNode {
  private readonly writer;
  private readonly reader;
  private readonly chainId: number;
  private readonly secrets: readonly string[];

  constructor(
    { rpcUrl, chainId }: DeploymentPlace,
    private readonly contract: DeployedContract,
  ) {
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

  /**
   * Sends nothing to a chain that cannot run the contract, and returns no address whose code is not the compiled code.
   * @param account pays for the transaction
   * @param data creates the contract
   * @returns once the transaction is in a block
   * @throws PermanentError where a setting is wrong, the chain cannot run the contract (…_CHAIN_UNSUITABLE), the
   * transaction fails or the code differs; RetryableError where the node cannot be asked. No message holds a key or the
   * URL.
   */
  async deploy(account: PrivateKeyAccount, data: Hex): Promise<Deployed> {
    await this.verifyChain();
    // The estimate runs the whole deployment without sending it.
    const gas = await this.asked('the estimate of the deployment', () =>
      this.reader.estimateGas({ account: account.address, data }),
    );
    const transactionHash = await this.asked('the deployment', () =>
      this.writer.sendTransaction({ account, data, gas }),
    );
    const { address, blockNumber } = await this.deployed(transactionHash);
    const deployer = account.address.toLowerCase() as Address;
    return { address, transactionHash, blockNumber, deployer };
  }

  /** @throws PermanentError where the node serves another chain, or the chain cannot run the contract */
  private async verifyChain(): Promise<void> {
    const actual = await this.asked('eth_chainId', () => this.reader.getChainId());
    if (actual !== this.chainId) {
      throw new PermanentError(
        'RPC_CHAIN_MISMATCH',
        `The node serves chain ${actual}, not ${this.chainId}. Correct rpcUrl or chainId.`,
      );
    }
    await this.requireSuitableChain();
  }

  /** @throws PermanentError where the transaction failed, or created other code than the contract's */
  private async deployed(hash: Hex): Promise<{ address: Address; blockNumber: bigint }> {
    const { code: kind, name, isCode } = this.contract;
    const receipt = await this.asked(
      `the receipt of ${hash}, which was sent and may still count,`,
      () => this.reader.waitForTransactionReceipt({ hash }),
    );
    const { blockNumber, status } = receipt;
    const address = parseAddress(receipt.contractAddress ?? '');
    if (status !== 'success' || !address) {
      throw new PermanentError(`${kind}_NOT_DEPLOYED`, `The transaction ${hash} failed.`);
    }
    const code = await this.asked(
      `the code of ${address}, which transaction ${hash} created,`,
      () => this.reader.getCode({ address: address as Hex, blockNumber }),
    );
    if (!isCode(code ?? '0x')) {
      throw new PermanentError(
        `${kind}_CODE_DIFFERS`,
        `The code at ${address} is not the compiled ${name} (transaction ${hash}). Do not use it and send it no tokens: the chain changed the bytecode, or the node is wrong; ask another node with eth_getCode.`,
      );
    }
    return { address, blockNumber };
  }

  /** Replaces the library's message, which quotes the URL and the request. */
  private async asked<T>(what: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof BaseError)) throw error;
      const refusal = this.refusal(error);
      if (refusal) this.refuseWhereToIsRequired(refusal);
      const reason = refusal?.text ?? error.shortMessage;
      throw this.failed(`${what} failed: ${reason}`);
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

  /** What the node answered; undefined where it did not answer at all. */
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

  /**
   * Checks that the chain can run the bytecode, before anything is sent. Every opcode is tried, because a chain before
   * Cancun may accept the deployment and fail at the contract's first call.
   * @throws PermanentError …_CHAIN_UNSUITABLE; RetryableError where the node cannot tell
   */
  private async requireSuitableChain(): Promise<void> {
    const { chainId, contract } = this;
    const refusal = await this.refusalOf(EMPTY_PROGRAM);
    if (refusal !== undefined) {
      // Some nodes refuse this form of a call and yet accept deployments, so the estimate that follows decides.
      this.refuseWhereToIsRequired(refusal);
      return;
    }
    for (const { name, upgrade, code } of OPCODES) {
      const failure = await this.refusalOf(code);
      if (failure === undefined) continue;
      if (!failure.isRevert) throw this.failed(`eth_call failed: ${failure.text}`);
      throw this.unsuitable(
        `Chain ${chainId} does not know the opcode ${name} (${upgrade}), which the ${contract.name} uses. Nothing was sent. The ${contract.name} needs a chain with the Cancun upgrade of Ethereum.`,
      );
    }
  }

  /** @throws PermanentError …_CHAIN_UNSUITABLE where the node says that `to` is required */
  private refuseWhereToIsRequired({ text }: NodeRefusal): void {
    if (!TO_REQUIRED.test(text)) return;
    throw this.unsuitable(
      `Chain ${this.chainId} takes no EVM bytecode: it is a ZK Stack chain without the EVM emulator. Nothing was sent. Compile ${this.contract.source} with zksolc and deploy that with the chain's own tools; docs/operating/chains.md says how.`,
    );
  }

  private unsuitable(message: string): PermanentError {
    return new PermanentError(`${this.contract.code}_CHAIN_UNSUITABLE`, message);
  }

  private failed(message: string): RetryableError {
    return new RetryableError(`${this.contract.code}_DEPLOYMENT_FAILED`, message);
  }
}

interface NodeRefusal {
  /** Holds no secret. */
  readonly text: string;
  /** Whether the refusal concerns the program that was run, not the request. */
  readonly isRevert: boolean;
}

/** STOP: creates nothing, and fails only where the node refuses the form of the call. */
const EMPTY_PROGRAM = '0x00';

/**
 * Opcodes that solc uses for `evmVersion: cancun`, and those of the vault's guard against re-entry (EIP-1153). The
 * registry has no such guard.
 */
const OPCODES: readonly { readonly name: string; readonly upgrade: string; readonly code: Hex }[] =
  [
    { name: 'PUSH0', upgrade: 'Shanghai', code: '0x5f00' },
    { name: 'MCOPY', upgrade: 'Cancun', code: '0x6000600060005e00' },
    { name: 'TLOAD', upgrade: 'Cancun', code: '0x60005c00' },
    { name: 'TSTORE', upgrade: 'Cancun', code: '0x600060005d00' },
  ];

/**
 * The refusal of ZK Stack nodes (zksync-era, core/lib/types/src/transaction_request.rs): a transaction without `to`
 * creates a contract of EVM bytecode, which a chain without the EVM emulator refuses.
 */
const TO_REQUIRED = /toaddressisnull|to.?address is null|missing (?:field )?[`'"]to[`'"]/i;
