/** A local chain on which a test deploys contracts, calls them from any address and reads the state at each block. */
import { type Abi, encodeDeployData, encodeFunctionData } from 'viem';
import {
  ChainReader,
  type ChainReaderOptions,
  LogSource,
  parseStakeDescription,
  type RpcObserver,
  RpcPool,
} from '#libs/chain';
import { type DevTransaction, mineBlock, mineOne } from '#libs/devchain';
import { type Address, type BlockRef } from '#libs/domain';
import { startChain, type TestChain } from '#libs/testing/chain';
import { FakeClock } from '#libs/testing/clock';
import { compileFile } from '#libs/testing/solidity';

export interface DeployedContract {
  readonly address: Address;
  readonly abi: Abi;
}

export class ContractBench {
  readonly compiled = compileFile(new URL('staking-shapes.sol', import.meta.url));

  private constructor(
    readonly chain: TestChain,
    private seconds: number,
  ) {}

  /** Starts the chain and funds the wallets with its token. */
  static async start(wallets: readonly Address[]): Promise<ContractBench> {
    const seconds = 1_760_000_000;
    const chain = await startChain({ deployedSeconds: seconds });
    await chain.player.fund(wallets, 1_000_000n, seconds);
    return new ContractBench(chain, seconds);
  }

  async deploy(name: string, ...args: readonly unknown[]): Promise<DeployedContract> {
    const { abi, bytecode } = this.compiled(name);
    const data = encodeDeployData({ abi, bytecode, args });
    const { rpc, contracts } = this.chain;
    const receipt = await mineOne(rpc, (this.seconds += 12), { from: contracts.treasury, data });
    return { address: receipt.contractAddress as Address, abi };
  }

  call(
    { address, abi }: DeployedContract,
    from: Address,
    ...[functionName, ...args]: readonly [string, ...unknown[]]
  ): DevTransaction {
    return { from, to: address, data: encodeFunctionData({ abi, functionName, args }) };
  }

  /** Mines one block; all its transactions must succeed. @returns its number */
  async mine(...transactions: readonly DevTransaction[]): Promise<bigint> {
    const receipts = await mineBlock(this.chain.rpc, (this.seconds += 12), transactions);
    const failed = receipts.findIndex(({ succeeded }) => !succeeded);
    if (failed >= 0) throw new Error(`transaction ${failed} of the block failed`);
    return this.chain.player.head();
  }

  pool(
    urls: readonly string[] = [this.chain.url],
    warning: RpcObserver['warning'] = () => undefined,
    clock = new FakeClock(0),
  ): RpcPool {
    const observer = { request: () => undefined, warning };
    return new RpcPool({ urls, clock, observer, sleep: () => Promise.resolve() });
  }

  reader(options: ChainReaderOptions, pool = this.pool()): ChainReader {
    return new ChainReader(pool, options);
  }

  async block(number: bigint): Promise<BlockRef> {
    const [block] = await this.reader({}).headers([number]);
    if (!block) throw new Error(`there is no block ${String(number)}`);
    return block;
  }

  /** Computes every wallet's stake at the end of a block, and their sum, from the events up to that block. */
  async fold(
    contracts: readonly Address[],
    events: string,
    to: bigint,
  ): Promise<{ readonly balances: ReadonlyMap<Address, bigint>; readonly total: bigint }> {
    const source = new LogSource(this.pool(), {
      contracts,
      events: parseStakeDescription(events).events,
    });
    const { blocks } = await source.fetch({ from: 1n, to });
    const balances = new Map<Address, bigint>();
    for (const { deltas } of blocks) {
      for (const { wallet, amount } of deltas) {
        balances.set(wallet, (balances.get(wallet) ?? 0n) + amount);
      }
    }
    const total = [...balances.values()].reduce((sum, balance) => sum + balance, 0n);
    return { balances, total };
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
