import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { serializeErc6492Signature } from 'viem/utils';
import { type Address } from '#libs/domain';
import { startChain, type TestChain } from '#libs/testing/chain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import {
  type Fault,
  type FaultyNode,
  type NodeCall,
  startFaultyNode,
} from '#libs/testing/fake-node';
import { ContractWallets, walletSignature } from '#libs/testing/wallets';
import { type RpcWarning } from '../rpc/rpc-observer.js';
import { RpcPool } from '../rpc/rpc-pool.js';
import {
  SIGN_IN_DISAGREEMENT,
  UNIVERSAL_VERIFIERS,
  WalletSignatures,
} from './wallet-signatures.js';

const START = 1_760_000_000;
const TEXT = 'example.com wants you to sign in';
const ABSTRACT = 2741;
const HOUR_MS = 3_600_000;
const MAGIC = '1626ba7e';
const owner = privateKeyToAccount(`0x${'33'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'44'.repeat(32)}`);
const REFUSES: Fault = { kind: 'no-deployless-calls' };
/** A false answer to every call but the probe. */
const saysOf = (result: string): Fault => ({
  kind: 'result',
  method: 'eth_call',
  result,
  only: ({ params }) => JSON.stringify(params).length > 1000,
});
const YES = saysOf('0x01');
const NO = saysOf('0x00');
const OUT: Fault = { kind: 'reset' };

/** Chains by the ways in which they can verify a signature, the best first. */
const CHAINS: readonly [string, { chainId: number; hasVerifier: boolean; fault?: Fault }][] = [
  ['takes calls without `to`', { chainId: 31_337, hasVerifier: false }],
  ['has the verifier', { chainId: ABSTRACT, hasVerifier: true, fault: REFUSES }],
  ['has neither', { chainId: 31_338, hasVerifier: false, fault: REFUSES }],
  ['lacks its verifier', { chainId: ABSTRACT, hasVerifier: false, fault: REFUSES }],
];

describe.each(CHAINS)('on a chain that %s', (name, { chainId, hasVerifier, fault }) => {
  const canAskUndeployed = hasVerifier || fault === undefined;
  let chain: TestChain;
  let wallets: ContractWallets;
  let bench: Bench;

  beforeAll(async () => {
    chain = await startChain({ deployedSeconds: START, chainId });
    wallets = new ContractWallets(chain, START);
    if (hasVerifier) await wallets.putVerifier(UNIVERSAL_VERIFIERS.get(chainId) as Address);
    bench = await Bench.start(chain, fault);
  });
  afterAll(async () => {
    await bench.stop();
    await chain.stop();
  });

  it('an account’s signature is its own', async () => {
    const signature = await owner.signMessage({ message: TEXT });
    expect(await bench.isSigned(owner.address, signature)).toBe(true);
    expect(await bench.isSigned(stranger.address, signature)).toBe(false);
    const other = bench.signatures.isSignedBy(lower(owner.address), `${TEXT}.`, signature);
    expect(await other).toBe(false);
  });

  it.each(['', '0xzz', `0x${'00'.repeat(65)}`])(
    'an account’s signature is not %p',
    async (signature) => {
      expect(await bench.isSigned(owner.address, signature)).toBe(false);
    },
  );

  it('a contract wallet’s signature is what the wallet takes (EIP-1271)', async () => {
    const wallet = await wallets.of(owner);
    expect(await bench.isSigned(wallet, await walletSignature(owner, TEXT))).toBe(true);
    expect(await bench.isSigned(wallet, await walletSignature(stranger, TEXT))).toBe(false);
    expect(await bench.isSigned(wallet, '0x1234')).toBe(false);
  });

  it('a contract wallet that signed on chain has the empty signature', async () => {
    const wallet = await wallets.deploy('Approving');
    expect(await bench.isSigned(wallet, '0x')).toBe(false);
    await wallets.approve(wallet, TEXT);
    expect(await bench.isSigned(wallet, '0x')).toBe(true);
    expect(await bench.isSigned(wallet, '0x00')).toBe(false);
    expect(await bench.signatures.isSignedBy(wallet, `${TEXT}.`, '0x')).toBe(false);
    expect(await bench.isSigned(await wallets.of(owner), '0x')).toBe(false);
    expect(await bench.isSigned(aWallet(7), '0x')).toBe(false);
  });

  it('a wallet that is not deployed yet signs in where the chain can be asked (EIP-6492)', async () => {
    const { wallet, sign, make } = await wallets.undeployed(owner);
    expect(await bench.isSigned(wallet, await sign(TEXT))).toBe(canAskUndeployed);
    expect(await bench.isSigned(wallet, await sign(TEXT, stranger))).toBe(false);
    // The wrapper of one wallet is no signature of another wallet.
    expect(await bench.isSigned(aWallet(7), await sign(TEXT))).toBe(false);
    expect(await chain.rpc.call('eth_getCode', wallet, 'latest')).toBe('0x');
    const codes = bench.warnings.map(({ code }) => code);
    const undeployed = codes.filter((code) => code === 'SIGN_IN_UNDEPLOYED_WALLET');
    expect(undeployed).toHaveLength(canAskUndeployed ? 0 : 1);
    await make();
    expect(await bench.isSigned(wallet, await sign(TEXT))).toBe(true);
    expect(await bench.isSigned(wallet, await sign(TEXT, stranger))).toBe(false);
  });

  it.each([
    ['the zero address', '0x0000000000000000000000000000000000000000'],
    ['the precompile that answers what it is asked', '0x0000000000000000000000000000000000000004'],
    ['a predeploy', '0x4200000000000000000000000000000000000016'],
  ])('no signature is that of %s', async (_, address) => {
    // Nothing can be recovered from either, and a verifier compares what ecrecover returns then: the zero address.
    for (const recovery of ['1b', '1c']) {
      expect(await bench.isSigned(address, `0x${'00'.repeat(64)}${recovery}`)).toBe(false);
      expect(await bench.isSigned(address, `0x${'ff'.repeat(64)}${recovery}`)).toBe(false);
    }
    const signature = await owner.signMessage({ message: TEXT });
    expect(await bench.isSigned(address, signature)).toBe(false);
    const wrapped = { address: stranger.address, data: '0x', signature } as const;
    expect(await bench.isSigned(address, serializeErc6492Signature(wrapped))).toBe(false);
  });

  it('an account that has delegated its code (EIP-7702) signs by its own key, and as its delegate takes it', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const byKey = await account.signMessage({ message: TEXT });
    const byDelegate = await walletSignature(owner, TEXT);
    expect(await bench.isSigned(account.address, byDelegate)).toBe(false);
    await wallets.delegate(account.address, await wallets.of(owner));
    expect(await bench.isSigned(account.address, byKey)).toBe(true);
    expect(await bench.isSigned(account.address, byDelegate)).toBe(true);
    expect(await bench.isSigned(account.address, await walletSignature(stranger, TEXT))).toBe(
      false,
    );
    await wallets.delegate(account.address, await wallets.deploy('Reverting'));
    expect(await bench.isSigned(account.address, byKey)).toBe(true);
    expect(await bench.isSigned(account.address, byDelegate)).toBe(false);
  });

  it('a wrapper that cannot be read is no signature', async () => {
    const wallet = await wallets.of(owner);
    const broken = `0x${'ff'.repeat(96)}${'6492'.repeat(16)}`;
    expect(await bench.isSigned(wallet, broken)).toBe(false);
  });

  it('a wallet that reverts, or burns all gas, signs nothing', async () => {
    const signature = await walletSignature(owner, TEXT);
    expect(await bench.isSigned(await wallets.deploy('Reverting'), signature)).toBe(false);
    expect(await bench.isSigned(await wallets.deploy('Endless'), signature)).toBe(false);
    expect(await bench.isSigned(await wallets.of(owner), signature)).toBe(true);
  });

  it.each([
    ['nothing', '0x'],
    ['one', `0x${'1'.padStart(64, '0')}`],
    ['one byte', '0x01'],
    ['the magic value on the right', `0x${MAGIC.padStart(64, '0')}`],
    ['another magic value', `0x${'20c13b0b'.padEnd(64, '0')}`],
  ])('a wallet that answers %s signs nothing', async (_answer, answer) => {
    const wallet = await wallets.deploy('Answering', answer);
    expect(await bench.isSigned(wallet, await walletSignature(owner, TEXT))).toBe(false);
  });

  it('is asked which way it can be asked once', async () => {
    const calls = (): number => bench.node.requests.flatMap((request) => request.calls).length;
    const wallet = await wallets.of(owner);
    const signature = await walletSignature(owner, TEXT);
    await bench.isSigned(wallet, signature);
    const before = calls();
    expect(await bench.isSigned(wallet, signature)).toBe(true);
    // One call of a verifier, or two calls: for the wallet's code and for its answer.
    expect(calls() - before).toBe(canAskUndeployed ? 1 : 2);
    const forms = bench.warnings.filter(({ code }) => code === 'SIGN_IN_FORM');
    expect(forms).toHaveLength(canAskUndeployed ? 0 : hasNoVerifierOf(chainId) ? 1 : 2);
  });
});

describe('on one chain,', () => {
  let chain: TestChain;
  let wallets: ContractWallets;
  let wallet: Address;
  beforeAll(async () => {
    chain = await startChain({ deployedSeconds: START });
    wallets = new ContractWallets(chain, START);
    wallet = await wallets.of(owner);
  });
  afterAll(() => chain.stop());

  describe('a wallet, if the node runs no verifier,', () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await Bench.start(chain, REFUSES);
    });
    afterAll(() => bench.stop());

    it.each([
      ['four bytes', `0x${MAGIC}`, false],
      ['thirty-three bytes', `0x${MAGIC.padEnd(66, '0')}`, false],
      ['a word with more in it', `0x${MAGIC.padEnd(63, '0')}1`, false],
      ['exactly the magic value', `0x${MAGIC.padEnd(64, '0')}`, true],
    ])('that answers %s', async (_answer, answer, isSigned) => {
      const answering = await wallets.deploy('Answering', answer);
      expect(await bench.isSigned(answering, '0x1234')).toBe(isSigned);
    });

    it('is asked with a verifier again where the chain takes it an hour later', async () => {
      const { wallet: undeployed, sign } = await wallets.undeployed(owner);
      expect(await bench.isSigned(undeployed, await sign(TEXT))).toBe(false);
      bench.node.fault = undefined;
      expect(await bench.isSigned(undeployed, await sign(TEXT))).toBe(false);
      bench.clock.advance(HOUR_MS);
      expect(await bench.isSigned(undeployed, await sign(TEXT))).toBe(true);
    });
  });

  describe('an endpoint that answers', () => {
    let bench: Bench;
    afterEach(() => bench.stop());

    const ONE = `0x${'1'.padStart(64, '0')}`;
    it.each<[string, Fault]>([
      ['0x to every call', { kind: 'result', method: 'eth_call', result: '0x' }],
      ['0x01 to every call', { kind: 'result', method: 'eth_call', result: '0x01' }],
      ['a true word to every call', { kind: 'result', method: 'eth_call', result: ONE }],
      ['that every call reverted', callError(3, 'execution reverted')],
    ])('%s makes no signature valid', async (_answer, fault) => {
      bench = await Bench.start(chain, fault);
      expect(await bench.isSigned(wallet, await walletSignature(owner, TEXT))).toBe(false);
      expect(await bench.isSigned(aWallet(7), await walletSignature(owner, TEXT))).toBe(false);
    });

    it.each<[string, Fault]>([
      ['like zksync-era', { kind: 'no-deployless-calls' }],
      ['that the parameters are invalid', callError(-32602, 'missing field `to`')],
      ['that it reverted', callError(3, 'execution reverted')],
      ['with nothing', { kind: 'result', method: 'eth_call', result: '0x' }],
      ['with one', { kind: 'result', method: 'eth_call', result: '0x01' }],
    ])('a call without `to` %s leads to the wallet itself', async (_answer, fault) => {
      const when = (calls: readonly NodeCall[]): boolean => calls.some(isDeployless);
      bench = await Bench.start(chain, { ...fault, when });
      expect(await bench.isSigned(wallet, await walletSignature(stranger, TEXT))).toBe(false);
      expect(await bench.isSigned(wallet, await walletSignature(owner, TEXT))).toBe(true);
    });

    it.each<[string, Fault]>([
      ['null', { kind: 'result', method: 'eth_call', result: null }],
      ['true', { kind: 'result', method: 'eth_call', result: true }],
      ['an internal error', callError(-32603, 'Internal error')],
      ['a rate limit', callError(429, 'too many requests')],
    ])('%s says nothing, and nothing is learned', async (_answer, fault) => {
      bench = await Bench.start(chain, fault);
      const signature = await walletSignature(owner, TEXT);
      await expect(bench.isSigned(wallet, signature)).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
      bench.node.fault = undefined;
      bench.clock.advance(HOUR_MS);
      expect(await bench.isSigned(wallet, signature)).toBe(true);
      expect(bench.warnings).toEqual([]);
    });
  });

  describe('a contract wallet’s signature, by two endpoints,', () => {
    let warnings: RpcWarning[] = [];
    const nodes: FaultyNode[] = [];
    afterEach(async () => {
      await Promise.all(nodes.splice(0).map((node) => node.close()));
    });

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

    it.each<[string, typeof owner, (Fault | undefined)[], boolean]>([
      ['is valid where both say so', owner, [undefined, undefined], true],
      ['is not made valid by the first alone', stranger, [YES, undefined], false],
      ['is not made valid by the second alone', stranger, [undefined, YES], false],
      ['is refused where the first denies it', owner, [NO, undefined], false],
      ['is refused where the second denies it', owner, [undefined, NO], false],
      ['is valid by two, if the first of three denies it', owner, [NO, undefined, undefined], true],
      ['is not made valid by one of three', stranger, [undefined, YES, undefined], false],
      ['is valid by two, if the first is out', owner, [OUT, undefined, undefined], true],
    ])('%s', async (_case, by, faults, expected) => {
      expect(await isSigned(by, faults)).toBe(expected);
      // A third endpoint is asked only if two differ, and the slowest is the third.
      const asked = faults.filter((_, place) => (nodes[place]?.count('eth_call') ?? 0) > 0);
      expect(asked.length).toBeGreaterThanOrEqual(2);
      const disagree = new Set(asked.filter((fault) => fault !== OUT)).size > 1;
      expect(warnings.some(({ code }) => code === SIGN_IN_DISAGREEMENT)).toBe(disagree);
    });

    it('of an account that is not the thief’s is not made valid either', async () => {
      expect(await isSigned(stranger, [YES, undefined], lower(owner.address))).toBe(false);
      const [{ code, message } = { code: '', message: '' }] = warnings;
      expect(code).toBe(SIGN_IN_DISAGREEMENT);
      expect(message).toMatch(/is valid by .*#1, and not by .*#2$/);
    });

    it.each<[string, (Fault | undefined)[]]>([
      ['first', [OUT, undefined]],
      ['second', [undefined, OUT]],
    ])('is not decided without the %s', async (_place, faults) => {
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
        for (const faults of [
          [undefined, behind],
          [behind, undefined],
        ]) {
          expect(await isSigned(owner, faults, young)).toBe(isThere);
          expect(warnings).toEqual([]);
        }
      }
    });
  });
});

it('no endpoint is needed where an account’s signature is right', async () => {
  const clock = new FakeClock(0);
  const pool = new RpcPool({ urls: ['http://127.0.0.1:1'], clock, patienceMs: 0 });
  const dead = new WalletSignatures(pool, 1);
  const signature = await owner.signMessage({ message: TEXT });
  expect(await dead.isSignedBy(lower(owner.address), TEXT, signature)).toBe(true);
  await expect(dead.isSignedBy(lower(stranger.address), TEXT, signature)).rejects.toMatchObject({
    code: 'RPC_ALL_ENDPOINTS_FAILED',
  });
});

/** Verifies signatures by one endpoint with a fault. */
class Bench {
  readonly clock = new FakeClock(START * 1000);
  readonly warnings: RpcWarning[] = [];
  readonly signatures: WalletSignatures;

  private constructor(
    readonly node: FaultyNode,
    chainId: number,
  ) {
    const observer = {
      request: () => undefined,
      warning: (warning: RpcWarning) => void this.warnings.push(warning),
    };
    const pool = new RpcPool({ urls: [node.url], clock: this.clock, observer, patienceMs: 0 });
    this.signatures = new WalletSignatures(pool, chainId);
  }

  static async start({ url, chainId }: TestChain, fault?: Fault): Promise<Bench> {
    const node = await startFaultyNode({ upstream: url, ...(fault ? { fault } : {}) });
    return new Bench(node, chainId);
  }

  isSigned(wallet: string, signature: string): Promise<boolean> {
    return this.signatures.isSignedBy(lower(wallet), TEXT, signature);
  }

  stop(): Promise<void> {
    return this.node.close();
  }
}

function callError(code: number, message: string): Fault {
  return { kind: 'error', method: 'eth_call', code, message };
}

function isDeployless({ method, params }: NodeCall): boolean {
  return method === 'eth_call' && !('to' in (params[0] as object));
}

function hasNoVerifierOf(chainId: number): boolean {
  return !UNIVERSAL_VERIFIERS.has(chainId);
}

function lower(address: string): Address {
  return address.toLowerCase() as Address;
}
