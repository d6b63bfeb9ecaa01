/** Transactions to the vault, with nodes that report false costs. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { RpcPool } from '../rpc/rpc-pool.js';
import { toQuantity } from '../rpc/hex.js';
import { GasRefusedError } from '../accounts/gas-quotes.js';
import { VaultAccount, type VaultAccountOptions } from './vault-account.js';
import { isPausedByAll } from './vault-facts.js';
import { addressOfKey } from '../accounts/private-key.js';

const { OTHER_KEY, SIGNER_KEY } = VaultBench;
const GWEI = 10n ** 9n;
const MAX_WEI = 600n * GWEI * 1_000_000n;

let bench: VaultBench;
let account: Address;
const nodes: FaultyNode[] = [];
let reserved: bigint[];

beforeAll(async () => {
  account = addressOfKey(OTHER_KEY);
  bench = await VaultBench.start({ canceller: account, pauser: account });
});
afterEach(() => Promise.all(nodes.splice(0).map((node) => node.close())));
afterAll(() => bench.stop());

function anAccount(urls: readonly string[], changes: Partial<VaultAccountOptions> = {}) {
  reserved = [];
  return new VaultAccount({
    pool: new RpcPool({ urls, clock: new FakeClock(0), sleep: () => Promise.resolve() }),
    chainId: bench.chain.chainId,
    privateKey: OTHER_KEY,
    maxWei: MAX_WEI,
    reserve: (wei) => {
      reserved.push(wei);
      return Promise.resolve();
    },
    ...changes,
  });
}

/** A node that answers these methods with these figures. */
async function lying(figures: Readonly<Record<string, bigint>>): Promise<FaultyNode> {
  const node = await startFaultyNode({
    upstream: bench.chain.url,
    fault: Object.entries(figures).map(([method, figure]) => {
      return { kind: 'result', method, result: toQuantity(figure) } as const;
    }),
  });
  nodes.push(node);
  return node;
}

/** With the margins: 13.5 million gwei, and 37.5 million gas at 30 gwei. */
const HIGH_PRICE = { eth_gasPrice: 9_000_000n * GWEI };
const MUCH_GAS = { eth_gasPrice: 20n * GWEI, eth_estimateGas: 30_000_000n };

async function pending(): Promise<{ gasPrice: string; gas: string }[]> {
  const block = await bench.chain.rpc.call<{ transactions: { gasPrice: string; gas: string }[] }>(
    'eth_getBlockByNumber',
    'pending',
    true,
  );
  return block.transactions;
}

describe('a transaction to the vault', () => {
  it('is sent at half more than the going price, and counted at what it can cost', async () => {
    const node = await lying({ eth_gasPrice: 20n * GWEI, eth_estimateGas: 80_000n });
    const voucher = bench.voucher();
    const hash = await anAccount([node.url]).cancel(bench.vault, voucher.vaultId);
    expect(reserved).toEqual([30n * GWEI * 100_000n]);
    await bench.mine();
    const sent = await bench.chain.rpc.call('eth_getTransactionByHash', hash);
    const expected = { gasPrice: toQuantity(30n * GWEI), gas: toQuantity(100_000) };
    expect(sent).toMatchObject({ ...expected, from: account });
    expect(await bench.status(voucher)).toBe(2);
  });

  it('costs the limit at most, the margins included', async () => {
    const figures = { eth_gasPrice: 400n * GWEI, eth_estimateGas: 800_000n };
    const node = await lying(figures);
    const hash = await anAccount([node.url]).cancel(bench.vault, bench.voucher().vaultId);
    expect(reserved).toEqual([MAX_WEI]);
    await bench.mine();
    const expected = { gasPrice: toQuantity(600n * GWEI), gas: toQuantity(1_000_000) };
    expect(await bench.chain.rpc.call('eth_getTransactionByHash', hash)).toMatchObject(expected);
    const above = anAccount([(await lying({ ...figures, eth_gasPrice: 401n * GWEI })).url]);
    await expect(above.cancel(bench.vault, bench.voucher().vaultId)).rejects.toThrow(
      /1000000 gas at 601\.5 gwei, margins included: 0\.6015 .* above the 0\.6 that GAS_DAILY_COIN/,
    );
    expect(reserved).toEqual([]);
  });

  it('may take much gas at a low price, as on a rollup that counts the parent chain’s cost', async () => {
    const node = await lying({ eth_gasPrice: GWEI / 10n, eth_estimateGas: 20_000_000n });
    const voucher = bench.voucher();
    await anAccount([node.url]).cancel(bench.vault, voucher.vaultId);
    expect(reserved).toEqual([((GWEI * 15n) / 100n) * 25_000_000n]);
    await bench.mine();
    expect(await bench.status(voucher)).toBe(2);
  });

  it.each([
    ['none', 0n],
    ['less than any transaction takes', 20_999n],
    ['more than a number holds', 1n << 64n],
  ])('is not signed if the amount of gas is %s', async (_case, eth_estimateGas) => {
    const node = await lying({ eth_estimateGas });
    const asked = anAccount([node.url]).cancel(bench.vault, bench.voucher().vaultId);
    await expect(asked).rejects.toMatchObject({ code: 'RPC_ALL_ENDPOINTS_FAILED' });
    expect(reserved).toEqual([]);
  });

  it.each([
    ['9 million gwei for gas', HIGH_PRICE, / gas at 13500000 gwei.* above the 0\.6 that/],
    ['30 million gas', MUCH_GAS, / 37500000 gas at 30 gwei.* 1\.125 .* above the 0\.6 that/],
    ['a price beyond all numbers', { eth_gasPrice: (1n << 256n) - 1n }, /above the 0\.6 that/],
  ])('is not signed where the node asks %s', async (_case, figures, text) => {
    const node = await lying(figures);
    const asked = anAccount([node.url]).cancel(bench.vault, bench.voucher().vaultId);
    await expect(asked).rejects.toMatchObject({
      code: 'GAS_REFUSED',
      message: expect.stringMatching(text),
    });
    expect(reserved).toEqual([]);
    expect(node.count('eth_sendRawTransaction')).toBe(0);
    expect(await pending()).toEqual([]);
  });

  it('is sent if another node contradicts the first one, which lies', async () => {
    const node = await lying({ ...HIGH_PRICE, ...MUCH_GAS });
    const voucher = bench.voucher();
    await anAccount([node.url, bench.chain.url]).cancel(bench.vault, voucher.vaultId);
    await bench.mine();
    expect(await bench.status(voucher)).toBe(2);
    const both = anAccount([node.url, (await lying(HIGH_PRICE)).url]);
    await expect(both.cancel(bench.vault, bench.voucher().vaultId)).rejects.toMatchObject({
      code: 'GAS_REFUSED',
    });
    const alone = anAccount([node.url, 'http://127.0.0.1:9/']);
    await expect(alone.cancel(bench.vault, bench.voucher().vaultId)).rejects.toMatchObject({
      code: 'GAS_REFUSED',
    });
    expect(await pending()).toEqual([]);
  });

  it('is not signed where the day’s coin is spent', async () => {
    const spent = new GasRefusedError('it is spent');
    const asked = anAccount([bench.chain.url], { reserve: () => Promise.reject(spent) });
    await expect(asked.cancel(bench.vault, bench.voucher().vaultId)).rejects.toBe(spent);
    expect(await pending()).toEqual([]);
  });

  it('is signed once, however many nodes must be asked to take it', async () => {
    const method = 'eth_sendRawTransaction';
    let asked = 0;
    // The endpoint that is asked first, whichever it is, refuses the transaction.
    const refuses: Fault = {
      kind: 'error',
      method,
      code: -32000,
      message: 'not now',
      when: (calls) => calls.some((call) => call.method === method) && asked++ === 0,
    };
    for (let count = 0; count < 2; count += 1) {
      nodes.push(await startFaultyNode({ upstream: bench.chain.url, fault: [refuses] }));
    }
    const voucher = bench.voucher();
    await anAccount(nodes.map(({ url }) => url)).cancel(bench.vault, voucher.vaultId);
    expect(asked).toBe(2);
    expect(reserved).toHaveLength(1);
    await bench.mine();
    expect(await bench.status(voucher)).toBe(2);
  });

  it('pauses for who holds the role, and is refused by the vault otherwise', async () => {
    const refused = { code: 'RPC_EXECUTION_REVERTED' };
    const stranger = anAccount([bench.chain.url], { privateKey: SIGNER_KEY });
    await expect(stranger.pause(bench.vault)).rejects.toMatchObject(refused);
    await expect(stranger.cancel(bench.vault, bench.voucher().vaultId)).rejects.toMatchObject(
      refused,
    );
    await anAccount([bench.chain.url]).pause(bench.vault);
    await bench.mine();
    expect(await bench.view('paused')).toBe(true);
    await expect(anAccount([bench.chain.url]).pause(bench.vault)).rejects.toMatchObject(refused);
    await bench.mine(bench.call(bench.admin, 'unpause'));
  });

  it.each<[string, Fault]>([
    [
      'refuses',
      { kind: 'error', method: 'eth_estimateGas', code: 3, message: 'execution reverted' },
    ],
    ['asks too much', { kind: 'result', method: 'eth_gasPrice', result: '0xffffffffffffff' }],
    [
      'asks for the whole day’s coin',
      { kind: 'result', method: 'eth_gasPrice', result: '0x746a528800' },
    ],
    ['names a far nonce', { kind: 'result', method: 'eth_getTransactionCount', result: '0xffff' }],
    [
      'takes no transaction',
      {
        kind: 'reset',
        when: (calls) => calls.some(({ method }) => method === 'eth_sendRawTransaction'),
      },
    ],
    ['does not answer', { kind: 'reset' }],
  ])('pauses by another node where the first one %s', async (_case, fault) => {
    const node = await startFaultyNode({ upstream: bench.chain.url, fault });
    nodes.push(node);
    let left = 750n * GWEI * 70_000n;
    const reserve = (wei: bigint) => {
      left -= wei;
      return left < 0n ? Promise.reject(new GasRefusedError('spent')) : Promise.resolve();
    };
    const account = anAccount([node.url, bench.chain.url], { reserve });
    expect(await account.pause(bench.vault)).toBeGreaterThan(0);
    await bench.mine();
    expect(await bench.view('paused')).toBe(true);
    await bench.mine(bench.call(bench.admin, 'unpause'));
  });

  it('knows that a vault is paused only where no endpoint says otherwise, and two answer', async () => {
    const paused = { kind: 'result', method: 'eth_call', result: `0x${'1'.padStart(64, '0')}` };
    const node = await startFaultyNode({ upstream: bench.chain.url, fault: paused as Fault });
    nodes.push(node);
    const clock = new FakeClock(0);
    const said = (...urls: string[]) =>
      isPausedByAll(new RpcPool({ urls, clock, sleep: () => Promise.resolve() }), bench.vault);
    const dead = 'http://127.0.0.1:9/';
    expect(await said(node.url, bench.chain.url)).toBe(false);
    expect(await said(node.url, dead)).toBe(false);
    expect(await said(bench.chain.url)).toBe(false);
    await bench.mine(bench.call(account, 'pause'));
    expect(await said(node.url, bench.chain.url)).toBe(true);
    expect(await said(bench.chain.url)).toBe(true);
    await bench.mine(bench.call(bench.admin, 'unpause'));
  });
});
