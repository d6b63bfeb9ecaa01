/** A local chain with registries, and sealed days as the indexer makes them. */
import {
  type Abi,
  decodeErrorResult,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
} from 'viem';
import { snapshotRegistryAbi, snapshotRegistryBytecode } from '#libs/chain';
import { mineOne } from '#libs/devchain';
import {
  type Address,
  buildDayTree,
  type DayLeaf,
  DayListBuilder,
  type DayTree,
  type Keccak256,
  SECONDS_PER_DAY,
} from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { startChain, type TestChain } from '#libs/testing/chain';

const START = 1_760_000_000;
const ADMIN_DELAY = 86_400;
export const TODAY = BigInt(Math.floor(START / SECONDS_PER_DAY));
export const YESTERDAY = TODAY - 1n;

export const aWallet = (digit: string): Address => `0x${digit.repeat(40)}` as Address;
export const PUBLISHER = aWallet('1');
export const STRANGER = aWallet('2');
export const ALICE = aWallet('a');
export const BOB = aWallet('b');
export const CAROL = aWallet('c');

export interface Deployed {
  readonly address: Address;
  readonly abi: Abi;
}

export class RegistryBench {
  private seconds = START;

  private constructor(
    private readonly chain: TestChain,
    private readonly keccak: Keccak256,
  ) {}

  static async start(): Promise<RegistryBench> {
    return new RegistryBench(await startChain({ deployedSeconds: START }), await createKeccak256());
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }

  treeOf(lows: readonly (readonly [Address, bigint])[]): DayTree {
    const builder = new DayListBuilder(lows.length);
    const sorted = [...lows].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [wallet, low] of sorted) builder.add(Buffer.from(wallet.slice(2), 'hex'), low);
    return buildDayTree(builder.list(), this.keccak);
  }

  async deploy(abi: Abi, bytecode: Hex, ...args: readonly unknown[]): Promise<Deployed> {
    const data = encodeDeployData({ abi, bytecode, args });
    const { rpc, contracts } = this.chain;
    const receipt = await mineOne(rpc, (this.seconds += 12), { from: contracts.treasury, data });
    return { address: receipt.contractAddress as Address, abi };
  }

  registry(stakedIn: string): Promise<Deployed> {
    const args = [this.chain.contracts.treasury, ADMIN_DELAY, PUBLISHER, stakedIn];
    return this.deploy(snapshotRegistryAbi, snapshotRegistryBytecode, ...args);
  }

  /** @returns the result of the call, or the name of the error with which it reverts */
  async ask(
    { address: to, abi }: Deployed,
    functionName: string,
    args: readonly unknown[],
    from: Address = STRANGER,
  ): Promise<unknown> {
    const data = encodeFunctionData({ abi, functionName, args });
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ from, to, data }] };
    const answer = await fetch(this.chain.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { result, error } = (await answer.json()) as { result?: Hex; error?: { data: Hex } };
    if (result !== undefined) return decodeFunctionResult({ abi, functionName, data: result });
    // A contract that calls the registry passes the registry's errors on.
    const errors = [...abi, ...snapshotRegistryAbi];
    return decodeErrorResult({ abi: errors, data: error?.data ?? '0x' }).errorName;
  }

  async send(
    { address: to, abi }: Deployed,
    functionName: string,
    args: readonly unknown[],
    from: Address = PUBLISHER,
  ): Promise<void> {
    const data = encodeFunctionData({ abi, functionName, args });
    await mineOne(this.chain.rpc, (this.seconds += 12), { from, to, data });
  }

  async wait(seconds: number): Promise<void> {
    await mineOne(this.chain.rpc, (this.seconds += seconds), { from: ALICE, to: BOB, data: '0x' });
  }
}

/** The leaf that proves a wallet's balance or absence, as the contract takes it. */
export function leafOf(tree: DayTree, wallet: Address): DayLeaf & { proof: readonly string[] } {
  const { leaf, proof } = tree.prove(wallet);
  return { ...leaf, proof };
}

export function verifyArgs(day: bigint, tree: DayTree, wallet: Address): unknown[] {
  const { leaf, proof } = tree.prove(wallet);
  return [day, leaf.wallet, leaf.low, leaf.next, proof];
}
