/** Tests the contracts beside the vault: the registry of sealed days, and the staking contract of a local chain. */
import {
  type Abi,
  decodeErrorResult,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  decodeEventLog,
} from 'viem';
import { snapshotRegistryAbi, snapshotRegistryBytecode, stakingAbi } from '#libs/chain';
import { mineOne } from '#libs/devchain';
import {
  type Address,
  buildDayTree,
  type DayLeaf,
  DayListBuilder,
  type DayTree,
  type Keccak256,
  SECONDS_PER_DAY,
  LAST_ADDRESS,
  ZERO_ADDRESS,
  parseAddress,
} from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { startChain, type TestChain, stake, withdraw } from '#libs/testing/chain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compileFile } from '#libs/testing/solidity';

const START = 1_760_000_000;
const ADMIN_DELAY = 86_400;
const TODAY = BigInt(Math.floor(START / SECONDS_PER_DAY));
const YESTERDAY = TODAY - 1n;

const aWallet = (digit: string): Address => `0x${digit.repeat(40)}` as Address;
const PUBLISHER = aWallet('1');
const STRANGER = aWallet('2');
const ALICE = aWallet('a');
const BOB = aWallet('b');
const CAROL = aWallet('c');

interface Deployed {
  readonly address: Address;
  readonly abi: Abi;
}

/** A local chain with registries, and sealed days as the indexer makes them. */
class RegistryBench {
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
function leafOf(tree: DayTree, wallet: Address): DayLeaf & { proof: readonly string[] } {
  const { leaf, proof } = tree.prove(wallet);
  return { ...leaf, proof };
}

function verifyArgs(day: bigint, tree: DayTree, wallet: Address): unknown[] {
  const { leaf, proof } = tree.prove(wallet);
  return [day, leaf.wallet, leaf.low, leaf.next, proof];
}

let bench: RegistryBench;
let registry: Deployed;
let another: Deployed;

beforeAll(async () => {
  bench = await RegistryBench.start();
  registry = await bench.registry('eip155:1337:0x01');
  another = await bench.registry('eip155:1337:0x02');
});
afterAll(() => bench.stop());

describe('a published day', () => {
  let tree: DayTree;

  beforeAll(async () => {
    tree = bench.treeOf([
      [ALICE, 700n],
      [CAROL, 5n],
    ]);
    await bench.send(registry, 'publish', [YESTERDAY, tree.root]);
  });

  it('proves what each wallet kept', async () => {
    for (const wallet of [ALICE, CAROL, ZERO_ADDRESS, LAST_ADDRESS]) {
      expect(await bench.ask(registry, 'verify', verifyArgs(YESTERDAY, tree, wallet))).toBe(true);
    }
    expect(await bench.ask(registry, 'provenLow', [YESTERDAY, ALICE, leafOf(tree, ALICE)])).toBe(
      700n,
    );
  });

  it('proves what is not there: between two wallets, below the first, above the last', async () => {
    for (const wallet of [BOB, aWallet('9'), aWallet('d')]) {
      const leaf = leafOf(tree, wallet);
      expect(await bench.ask(registry, 'verifyAbsent', [YESTERDAY, wallet, leaf])).toBe(true);
      expect(await bench.ask(registry, 'provenLow', [YESTERDAY, wallet, leaf])).toBe(0n);
    }
  });

  it('proves nothing for another day', async () => {
    const args = verifyArgs(YESTERDAY - 1n, tree, ALICE);
    expect(await bench.ask(registry, 'verify', args)).toBe(false);
    const leaf = leafOf(tree, BOB);
    expect(await bench.ask(registry, 'verifyAbsent', [YESTERDAY - 1n, BOB, leaf])).toBe(false);
  });

  it('proves nothing for another contract set', async () => {
    expect(await bench.ask(another, 'verify', verifyArgs(YESTERDAY, tree, ALICE))).toBe(false);
    const other = bench.treeOf([[ALICE, 701n]]);
    await bench.send(another, 'publish', [YESTERDAY, other.root]);
    expect(await bench.ask(another, 'verify', verifyArgs(YESTERDAY, tree, ALICE))).toBe(false);
    expect(await bench.ask(another, 'verify', verifyArgs(YESTERDAY, other, ALICE))).toBe(true);
  });

  it.each<[string, (args: unknown[]) => unknown[]]>([
    ['another amount', ([day, wallet, , ...rest]) => [day, wallet, 701n, ...rest]],
    ['another wallet', ([day, , ...rest]) => [day, BOB, ...rest]],
    ['another next wallet', ([day, wallet, low, , proof]) => [day, wallet, low, BOB, proof]],
    ['no proof', ([day, wallet, low, next]) => [day, wallet, low, next, []]],
    [
      'a node too many',
      ([day, wallet, low, next, proof]) => [
        day,
        wallet,
        low,
        next,
        [...(proof as Hex[]), tree.root],
      ],
    ],
  ])('proves nothing with %s', async (_, change) => {
    const args = change(verifyArgs(YESTERDAY, tree, ALICE));
    expect(await bench.ask(registry, 'verify', args)).toBe(false);
  });

  it('takes no wallet that is there for absent', async () => {
    for (const wallet of [ALICE, CAROL]) {
      for (const teller of [ALICE, CAROL, ZERO_ADDRESS, LAST_ADDRESS]) {
        const args = [YESTERDAY, wallet, leafOf(tree, teller)];
        expect(await bench.ask(registry, 'verifyAbsent', args)).toBe(false);
      }
    }
    const before = leafOf(tree, ZERO_ADDRESS);
    expect(await bench.ask(registry, 'provenLow', [YESTERDAY, ALICE, before])).toBe('InvalidProof');
  });

  it('takes no inner node for a leaf', async () => {
    const { proof } = tree.prove(ALICE);
    const [sibling = '0x'] = proof;
    const args = [YESTERDAY, `0x${sibling.slice(26)}`, 0n, ALICE, proof.slice(1)];
    expect(await bench.ask(registry, 'verify', args)).toBe(false);
  });

  it('never gets another root', async () => {
    const root = bench.treeOf([[ALICE, 1n]]).root;
    expect(await bench.ask(registry, 'publish', [YESTERDAY, root], PUBLISHER)).toBe('DayHasRoot');
    expect(await bench.ask(registry, 'publish', [YESTERDAY, tree.root], PUBLISHER)).toBe(
      'DayHasRoot',
    );
    expect(await bench.ask(registry, 'rootOf', [YESTERDAY])).toBe(tree.root);
  });
});

describe('publishing', () => {
  const ROOT = `0x${'ab'.repeat(32)}`;
  const NO_ROOT = `0x${'0'.repeat(64)}`;

  it.each<[what: string, call: readonly [string, ...unknown[]], error: string]>([
    ['of today', ['publish', TODAY, ROOT], 'DayNotOver'],
    ['of a day beyond all days', ['publish', 2n ** 256n - 1n, ROOT], 'DayNotOver'],
    ['without a root', ['publish', 1n, NO_ROOT], 'ZeroRoot'],
  ])('%s is refused', async (_, [name, ...args], error) => {
    expect(await bench.ask(registry, name, args, PUBLISHER)).toBe(error);
  });

  it('is for its role alone', async () => {
    const refused = await bench.ask(registry, 'publish', [1n, ROOT], STRANGER);
    expect(refused).toBe('AccessControlUnauthorizedAccount');
  });

  it('says what the balances are of', async () => {
    expect(await bench.ask(registry, 'stakedIn', [])).toBe('eip155:1337:0x01');
  });
});

describe('StakeTiers, the example', () => {
  const example = compileFile(new URL('../examples/StakeTiers.sol', import.meta.url))('StakeTiers');

  it('grants the tier of the average for a week, and only to those who prove it', async () => {
    const trees = [1, 2].map((day) => bench.treeOf([[ALICE, BigInt(day) * 1000n]])) as [
      DayTree,
      DayTree,
    ];
    const set = await bench.registry('eip155:1337:0x03');
    await bench.send(set, 'publish', [YESTERDAY - 1n, trees[0].root]);
    await bench.send(set, 'publish', [YESTERDAY, trees[1].root]);
    const tiers = await bench.deploy(
      example.abi,
      example.bytecode,
      ...[set.address, 2n, [500n, 1500n, 5000n]],
    );
    const claim = (wallet: Address) => [YESTERDAY, trees.map((tree) => leafOf(tree, wallet))];
    await bench.send(tiers, 'claim', claim(ALICE), ALICE);
    await bench.send(tiers, 'claim', claim(BOB), BOB);
    expect(await bench.ask(tiers, 'tierOf', [ALICE])).toBe(2n);
    expect(await bench.ask(tiers, 'tierOf', [BOB])).toBe(0n);
    // Alice's proofs also prove that a wallet above hers is absent, but prove nothing about a wallet below hers.
    expect(await bench.ask(tiers, 'claim', claim(ALICE), BOB)).toBe(0n);
    expect(await bench.ask(tiers, 'claim', claim(ALICE), aWallet('9'))).toBe('InvalidProof');
    expect(await bench.ask(tiers, 'claim', [YESTERDAY, [leafOf(trees[1], ALICE)]], ALICE)).toBe(
      'WrongDays',
    );
    await bench.wait(8 * SECONDS_PER_DAY);
    expect(await bench.ask(tiers, 'tierOf', [ALICE])).toBe(0n);
    expect(await bench.ask(tiers, 'claim', claim(ALICE), ALICE)).toBe('TooOld');
  });
});

const [alice, bob, carol] = ['a', 'b', 'c'].map((digit) => parseAddress('0x' + digit.repeat(40)));
if (!alice || !bob || !carol) throw new Error('not an address');

/** Encodes a call without the ABI's types, since half of the calls below are meant to be wrong. */
function encode(functionName: string, ...args: unknown[]): Hex {
  const abi: Abi = stakingAbi;
  return encodeFunctionData({ abi, functionName, args });
}

describe('Staking', () => {
  let chain: TestChain;
  let seconds = START;

  beforeAll(async () => {
    chain = await startChain({ deployedSeconds: START });
    await chain.player.fund([alice, bob], 10_000n, (seconds += 12));
  });
  afterAll(() => chain.stop());

  async function view(functionName: 'totalStaked' | 'balanceOf', ...args: string[]) {
    const data = encode(functionName, ...args);
    return BigInt(await chain.rpc.call<Hex>('eth_call', { to: chain.contracts.staking, data }));
  }

  async function tokens(wallet: string) {
    const data = '0x70a08231' + wallet.slice(2).padStart(64, '0');
    return BigInt(await chain.rpc.call<Hex>('eth_call', { to: chain.contracts.token, data }));
  }

  async function eventsOf(block: bigint) {
    const at = `0x${block.toString(16)}`;
    const filter = { address: chain.contracts.staking, fromBlock: at, toBlock: at };
    const logs = await chain.rpc.call<{ data: Hex; topics: [Hex, ...Hex[]] }[]>(
      'eth_getLogs',
      filter,
    );
    return logs.map((log) => {
      const { eventName, args } = decodeEventLog({ abi: stakingAbi, ...log });
      return { eventName, args };
    });
  }

  /** The name and arguments of the error with which the contract refuses a call. */
  async function refusal(from: string, data: Hex) {
    const { staking } = chain.contracts;
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      params: [{ from, to: staking, data }],
    };
    const answer = await fetch(chain.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { error } = (await answer.json()) as { error: { data: Hex } };
    const { errorName, args } = decodeErrorResult({ abi: stakingAbi, data: error.data });
    return { errorName, args };
  }

  it('moves the tokens and keeps balances, total and events in step', async () => {
    const staked = await chain.player.block((seconds += 12), stake(alice, 700n), stake(bob, 50n));
    expect(await eventsOf(staked)).toHaveLength(2);
    const withdrawn = await chain.player.block((seconds += 12), withdraw(alice, 200n));
    expect(await eventsOf(withdrawn)).toMatchObject([
      { eventName: 'Withdrawn', args: { amount: 200n } },
    ]);
    expect(await view('balanceOf', alice)).toBe(500n);
    expect(await view('totalStaked')).toBe(550n);
    expect(await tokens(alice)).toBe(9_500n);
    expect(await tokens(chain.contracts.staking)).toBe(550n);
  });

  it('stakes for several wallets in one transaction, in order, and pays everything back', async () => {
    const many = await chain.player.block((seconds += 12), [stake(carol, 5n), stake(bob, 1n)]);
    expect((await eventsOf(many)).map(({ args }) => args)).toMatchObject([
      { amount: 5n },
      { amount: 1n },
    ]);
    const data = encode('withdrawAll');
    await chain.rpc.call('eth_sendTransaction', {
      from: carol,
      to: chain.contracts.staking,
      data,
      gas: '0x30000',
      gasPrice: '0x0',
    });
    await chain.rpc.call('evm_mine', (seconds += 12));
    expect(await eventsOf(await chain.player.head())).toMatchObject([
      { eventName: 'Withdrawn', args: { amount: 5n } },
    ]);
    expect(await view('balanceOf', carol)).toBe(0n);
    expect(await tokens(carol)).toBe(5n);
  });

  it('refuses what makes no sense, with the reason', async () => {
    const zero = '0x' + '0'.repeat(40);
    expect((await refusal(alice, encode('stake', 0n))).errorName).toBe('ZeroAmount');
    expect((await refusal(alice, encode('withdraw', 0n))).errorName).toBe('ZeroAmount');
    expect((await refusal(carol, encode('withdrawAll'))).errorName).toBe('ZeroAmount');
    expect((await refusal(alice, encode('stakeFor', zero, 1n))).errorName).toBe('ZeroAddress');
    expect(await refusal(alice, encode('stakeMany', [alice, bob], [1n]))).toMatchObject({
      errorName: 'LengthMismatch',
      args: [2n, 1n],
    });
    expect(await refusal(alice, encode('withdraw', 501n))).toMatchObject({
      errorName: 'InsufficientStake',
      args: [expect.any(String), 500n, 501n],
    });
  });
});
