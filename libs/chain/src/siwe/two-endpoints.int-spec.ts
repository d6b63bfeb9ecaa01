/** Signatures of contract wallets, where one endpoint calls all of them valid, or none. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { privateKeyToAccount } from 'viem/accounts';
import { type Address } from '#libs/domain';
import { startChain, type TestChain } from '#libs/testing/chain';
import { FakeClock } from '#libs/testing/clock';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { ContractWallets, walletSignature } from '#libs/testing/wallets';
import { type RpcWarning } from '../rpc/rpc-observer.js';
import { RpcPool } from '../rpc/rpc-pool.js';
import { SIGN_IN_DISAGREEMENT, WalletSignatures } from './wallet-signatures.js';

const START = 1_760_000_000;
const TEXT = 'example.com wants you to sign in';
const owner = privateKeyToAccount(`0x${'33'.repeat(32)}`);
const thief = privateKeyToAccount(`0x${'44'.repeat(32)}`);
/** A false answer to every call but the probe. */
const saysOf = (result: string): Fault => ({
  kind: 'result',
  method: 'eth_call',
  result,
  only: ({ params }) => JSON.stringify(params).length > 1000,
});
const YES = saysOf('0x01');
const NO = saysOf('0x00');

describe('a contract wallet’s signature, by two endpoints,', () => {
  let chain: TestChain;
  let wallet: Address;
  let warnings: RpcWarning[] = [];
  const nodes: FaultyNode[] = [];

  beforeAll(async () => {
    chain = await startChain({ deployedSeconds: START });
    wallet = await new ContractWallets(chain, START).of(owner);
  });
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.close()));
  });
  afterAll(() => chain.stop());

  async function isSigned(
    by: typeof owner,
    faults: readonly (Fault | undefined)[],
    of: Address = wallet,
  ): Promise<boolean> {
    const asked: FaultyNode[] = [];
    for (const fault of faults) {
      asked.push(await startFaultyNode({ upstream: chain.url, ...(fault && { fault }) }));
    }
    nodes.push(...asked);
    warnings = [];
    const pool = new RpcPool({
      urls: asked.map(({ url }) => url),
      clock: new FakeClock(0),
      observer: { request: () => undefined, warning: (warning) => warnings.push(warning) },
      patienceMs: 0,
    });
    const signature = await walletSignature(by, TEXT);
    return new WalletSignatures(pool, chain.chainId).isSignedBy(of, TEXT, signature);
  }

  it('is valid where both say so', async () => {
    expect(await isSigned(owner, [undefined, undefined])).toBe(true);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['first', [YES, undefined]],
    ['second', [undefined, YES]],
  ])('is not made valid by the %s alone', async (_place, faults) => {
    expect(await isSigned(thief, faults)).toBe(false);
  });

  it('of an account that is not the thief’s is not made valid either', async () => {
    const account = owner.address.toLowerCase() as Address;
    expect(await isSigned(thief, [YES, undefined], account)).toBe(false);
    const [{ code, message } = { code: '', message: '' }] = warnings;
    expect(code).toBe(SIGN_IN_DISAGREEMENT);
    expect(message).toMatch(/#1 says that .* is valid, .*#2 says that it is not/);
  });

  it.each([
    ['first', [NO, undefined]],
    ['second', [undefined, NO]],
  ])('is refused where the %s denies it', async (_place, faults) => {
    expect(await isSigned(owner, faults)).toBe(false);
  });

  it.each([
    ['first', [{ kind: 'reset' }, undefined]],
    ['second', [undefined, { kind: 'reset' }]],
  ] as [string, Fault[]][])('is not decided without the %s', async (_place, faults) => {
    await expect(isSigned(owner, faults)).rejects.toMatchObject({
      code: 'RPC_ALL_ENDPOINTS_FAILED',
    });
  });

  it('is judged in a block that both have: a wallet that changes meanwhile is no disagreement', async () => {
    const young = await new ContractWallets(chain, START + 100).of(owner);
    const newest = Number(await chain.rpc.call<string>('eth_blockNumber'));
    for (const [height, isThere] of [
      [newest, true],
      [newest - 1, false],
    ] as const) {
      const result = `0x${height.toString(16)}`;
      const behind: Fault = { kind: 'result', method: 'eth_blockNumber', result };
      expect(await isSigned(owner, [undefined, behind], young)).toBe(isThere);
      expect(warnings).toEqual([]);
      expect(await isSigned(owner, [behind, undefined], young)).toBe(isThere);
      expect(warnings).toEqual([]);
    }
  });

  it('needs one where there is one', async () => {
    expect(await isSigned(owner, [undefined])).toBe(true);
  });
});
