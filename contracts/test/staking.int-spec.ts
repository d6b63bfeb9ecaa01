import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Abi, decodeErrorResult, decodeEventLog, encodeFunctionData, type Hex } from 'viem';
import { stakingAbi } from '#libs/chain';
import { parseAddress } from '#libs/domain';
import { stake, startChain, type TestChain, withdraw } from '#libs/testing/chain';

const START = 1_760_000_000;
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
