import {
  type Abi,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  keccak256,
  stringToBytes,
} from 'viem';
import { publishCalldata, snapshotRegistryAbi, stakedInText } from '#libs/chain';
import { deployLocalRegistry, type DevReceipt, mineOne } from '#libs/devchain';
import { type Address, type DayProof, type NodeHash } from '#libs/domain';
import { type TestChain } from '../chain/start-chain.js';

const abi: Abi = snapshotRegistryAbi;

/** A SnapshotRegistry on a local chain. Tests mine its blocks, twelve seconds apart. */
export class TestRegistry {
  private constructor(
    readonly chain: TestChain,
    readonly address: Address,
    readonly publisher: Address,
    private seconds: number,
  ) {}

  /** @param seconds timestamp of the chain's newest block */
  static async deploy(
    chain: TestChain,
    publisher: Address,
    { seconds, stakedIn }: { readonly seconds: number; readonly stakedIn?: string },
  ): Promise<TestRegistry> {
    const { contracts, chainId, rpc } = chain;
    const text = stakedIn ?? stakedInText(chainId, [contracts.staking]);
    const setup = { admin: contracts.treasury, publisher, stakedIn: text };
    const registry = await deployLocalRegistry(rpc, setup, seconds);
    return new TestRegistry(chain, registry, publisher, seconds);
  }

  /** Timestamp of the newest block that this object mined. */
  get newestSeconds(): number {
    return this.seconds;
  }

  /** Mines `blocks` blocks. The first one includes all pending transactions. */
  async mine(blocks = 1): Promise<void> {
    for (let block = 0; block < blocks; block++) {
      await this.chain.rpc.call('evm_mine', (this.seconds += 12));
    }
  }

  /** Removes the newest blocks from the chain, as a reorganisation does. */
  async rollback(blocks: number): Promise<void> {
    await this.chain.player.rollback(blocks);
  }

  /** Publishes a root directly, without the redemption service. */
  publish(day: number, root: NodeHash, from = this.publisher): Promise<DevReceipt> {
    return this.send(publishCalldata(day, root), from);
  }

  /** Revokes the publisher's role as the contract's admin. */
  revokePublisher(): Promise<DevReceipt> {
    const role = keccak256(stringToBytes('PUBLISHER_ROLE'));
    const data = encodeFunctionData({
      abi,
      functionName: 'revokeRole',
      args: [role, this.publisher],
    });
    return this.send(data, this.chain.contracts.treasury);
  }

  private send(data: Hex, from: Address): Promise<DevReceipt> {
    return mineOne(this.chain.rpc, (this.seconds += 12), { from, to: this.address, data });
  }

  async ask(functionName: string, ...args: readonly unknown[]): Promise<unknown> {
    const data = encodeFunctionData({ abi, functionName, args });
    const { rpc } = this.chain;
    const answer = await rpc.call<Hex>('eth_call', { to: this.address, data }, 'latest');
    return decodeFunctionResult({ abi, functionName, data: answer });
  }

  rootOf(day: number): Promise<unknown> {
    return this.ask('rootOf', BigInt(day));
  }

  verify(day: number, { leaf, proof }: Pick<DayProof, 'leaf' | 'proof'>): Promise<unknown> {
    return this.ask('verify', BigInt(day), leaf.wallet, leaf.low, leaf.next, proof);
  }

  /** The published days, in the order of publication. */
  async published(): Promise<number[]> {
    const filter = { address: this.address, fromBlock: '0x0', toBlock: 'latest' };
    const logs = await this.chain.rpc.call<{ topics: string[]; data: string }[]>(
      'eth_getLogs',
      filter,
    );
    // The events of publication have one indexed argument each, the day. Events about roles have three.
    return logs.filter(({ topics }) => topics.length === 2).map(({ topics }) => Number(topics[1]));
  }

  /** The number of the publisher's transactions that are in blocks. */
  async transactions(): Promise<number> {
    const { rpc } = this.chain;
    return Number(await rpc.call<string>('eth_getTransactionCount', this.publisher, 'latest'));
  }

  /** The pending transactions with their gas and its price. */
  async waiting(): Promise<{ hash: string; gasPrice: bigint; gas: bigint; nonce: number }[]> {
    type Block = { transactions: { hash: string; gasPrice: string; gas: string; nonce: string }[] };
    const { transactions } = await this.chain.rpc.call<Block>(
      'eth_getBlockByNumber',
      'pending',
      true,
    );
    return transactions.map(({ hash, gasPrice, gas, nonce }) => {
      return { hash, gasPrice: BigInt(gasPrice), gas: BigInt(gas), nonce: Number(nonce) };
    });
  }
}
