import {
  type Abi,
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
} from 'viem';
import {
  cancelCalldata,
  claimCalldata,
  redemptionVaultAbi,
  vaultIdOf,
  type VaultPlace,
  type Voucher,
  VoucherSigner,
} from '#libs/chain';
import { deployLocalVault, type DevTransaction, mineBlock, type VaultSetup } from '#libs/devchain';
import { type Address } from '#libs/domain';
import { startChain, type TestChain } from '../chain/start-chain.js';
import { aWallet } from '../database/index-builders.js';

/** The result of one transaction: its events, or the error with which the vault reverted. */
export interface Outcome {
  readonly transactionHash: string;
  readonly events: readonly { readonly eventName: string; readonly args: unknown }[];
  readonly error: string | undefined;
  readonly errorArgs: readonly unknown[];
}

const START = 1_760_000_000;
/** Blocks between `finalized` and the newest block. */
const FINALITY_DEPTH = 4;
/** Number of unlocked accounts, enough for all the tests' players to sign. */
const ACCOUNTS = 40;
/** Untyped, since half of the calls of the tests are meant to be wrong. */
const abi: Abi = redemptionVaultAbi;

/** A vault on its own chain. The chain's time advances with each block. */
export class VaultBench {
  static readonly SIGNER_KEY = '11'.repeat(32);
  /** The key of an account without a role. */
  static readonly OTHER_KEY = '22'.repeat(32);
  static readonly CANCELLER = aWallet(0xca);
  static readonly PAUSER = aWallet(0xda);
  static readonly RECIPIENT = aWallet(0x0e);
  static readonly STRANGER = aWallet(0x5e);

  /** Timestamp of the newest block, Unix time in seconds. */
  seconds = START;
  private ids = 0;

  private constructor(
    readonly chain: TestChain,
    readonly vault: Address,
  ) {}

  /** @param chainId chain id of another bench: the new vault has the same address and chain id, but a separate chain */
  static async start(setup: Partial<VaultSetup> = {}, chainId?: number): Promise<VaultBench> {
    const chain = await startChain({
      deployedSeconds: START,
      finalityDepth: FINALITY_DEPTH,
      accounts: ACCOUNTS,
      ...(chainId !== undefined && { chainId }),
    });
    const { vault } = await VaultBench.deploy(chain, setup, START);
    return new VaultBench(chain, vault);
  }

  private static deploy(chain: TestChain, setup: Partial<VaultSetup>, seconds: number) {
    const { token, treasury } = chain.contracts;
    const place = { chainId: chain.chainId, vault: aWallet(1) };
    const signer = new VoucherSigner(place, VaultBench.SIGNER_KEY).address;
    return deployLocalVault(
      chain.rpc,
      {
        token,
        treasury,
        signer,
        canceller: VaultBench.CANCELLER,
        pauser: VaultBench.PAUSER,
        ...setup,
      },
      seconds,
    );
  }

  /** Deploys another vault on the same chain. */
  async another(setup: Partial<VaultSetup>): Promise<VaultBench> {
    const { vault } = await VaultBench.deploy(this.chain, setup, this.seconds);
    const bench = new VaultBench(this.chain, vault);
    bench.seconds = this.seconds;
    return bench;
  }

  get place(): VaultPlace {
    return { chainId: this.chain.chainId, vault: this.vault };
  }

  get admin(): Address {
    return this.chain.contracts.treasury;
  }

  /** A voucher for a new redemption, valid for ten minutes. */
  voucher(changes: Partial<Voucher> = {}): Voucher {
    const ordinal = (++this.ids).toString(16).padStart(12, '0');
    return {
      vaultId: vaultIdOf(`0199d000-0000-7000-8000-${ordinal}`),
      recipient: VaultBench.RECIPIENT,
      amount: 100n,
      deadlineSeconds: this.seconds + 600,
      ...changes,
    };
  }

  async claim(voucher: Voucher, by: { key?: string; place?: VaultPlace; from?: Address } = {}) {
    const { key = VaultBench.SIGNER_KEY, place = this.place, from = VaultBench.STRANGER } = by;
    const signature = await new VoucherSigner(place, key).sign(voucher);
    return this.to(from, claimCalldata(voucher, signature));
  }

  cancel(voucher: Voucher, from = VaultBench.CANCELLER): DevTransaction {
    return this.to(from, cancelCalldata(voucher.vaultId));
  }

  /** A call of any function of the vault. */
  call(from: Address, functionName: string, ...args: readonly unknown[]): DevTransaction {
    return this.to(from, encodeFunctionData({ abi, functionName, args }));
  }

  to(from: Address, data: Hex): DevTransaction {
    return { from, to: this.vault, data };
  }

  /** Mines one block with these transactions in this order, twelve seconds after the last block. */
  mine(...transactions: readonly DevTransaction[]): Promise<Outcome[]> {
    return this.mineAt(this.seconds + 12, ...transactions);
  }

  async mineAt(seconds: number, ...transactions: readonly DevTransaction[]): Promise<Outcome[]> {
    this.seconds = seconds;
    const receipts = await mineBlock(this.chain.rpc, seconds, transactions);
    return Promise.all(receipts.map(({ transactionHash }) => this.outcome(transactionHash)));
  }

  /** Mines empty blocks until every earlier block is final. */
  async finalise(): Promise<void> {
    for (let block = 0; block < FINALITY_DEPTH; block++) await this.mine();
  }

  /** Removes the newest blocks from the chain. The next block comes twelve seconds after the newest remaining one. */
  async rollback(depth: number): Promise<void> {
    await this.chain.player.rollback(depth);
    const block = await this.chain.rpc.call<{ timestamp: string }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    this.seconds = Number(block.timestamp);
  }

  /** Mines a single transaction. @returns its error, or undefined where it succeeded */
  async refusal(transaction: DevTransaction | Promise<DevTransaction>) {
    const [outcome] = await this.mine(await transaction);
    return outcome?.error;
  }

  async view(functionName: string, ...args: readonly unknown[]): Promise<unknown> {
    const data = encodeFunctionData({ abi, functionName, args });
    const answer = await this.chain.rpc.call<Hex>('eth_call', { to: this.vault, data }, 'latest');
    return decodeFunctionResult({ abi, functionName, data: answer });
  }

  /** @returns 0 for NONE, 1 for CLAIMED, 2 for CANCELLED */
  status(voucher: Voucher): Promise<unknown> {
    return this.view('status', voucher.vaultId);
  }

  async tokens(wallet: Address, token = this.chain.contracts.token): Promise<bigint> {
    const data = `0x70a08231${wallet.slice(2).padStart(64, '0')}`;
    return BigInt(await this.chain.rpc.call<string>('eth_call', { to: token, data }, 'latest'));
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }

  private async outcome(transactionHash: string): Promise<Outcome> {
    const [receipt, trace] = (await this.chain.rpc.batch([
      { method: 'eth_getTransactionReceipt', params: [transactionHash] },
      { method: 'debug_traceTransaction', params: [transactionHash, { tracer: 'callTracer' }] },
    ])) as [
      { status: string; logs: { address: string; data: Hex; topics: [Hex, ...Hex[]] }[] },
      { output?: Hex },
    ];
    const events = receipt.logs
      .filter(({ address }) => address === this.vault)
      .map(({ data, topics }) => {
        const { eventName, args } = decodeEventLog({ abi: redemptionVaultAbi, data, topics });
        return { eventName, args };
      });
    if (receipt.status === '0x1') {
      return { transactionHash, events, error: undefined, errorArgs: [] };
    }
    const { errorName, args } = decodeErrorResult({ abi, data: trace.output ?? '0x' });
    return { transactionHash, events, error: errorName, errorArgs: args ?? [] };
  }
}
