import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { IndexStore } from '#libs/db';
import { type BlockHash, type BlockRef, dayOf } from '#libs/domain';
import { stake } from '#libs/testing/chain';
import { aFold, anInitialIndex, aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import { ConsoleBench, OPERATOR, refusalOf, VIEWER } from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';

const [RIGHT, WRONG] = [aWallet(0x1001), aWallet(0x1002)];
const TOKEN = 10n ** 18n;
const DEPTH = 4;

let vault: VaultBench;
let bench: ConsoleBench;
let operator: Visitor;
beforeAll(async () => {
  vault = await VaultBench.start();
  const { chain, seconds } = vault;
  await chain.player.block(seconds + 60, stake(RIGHT, 5n * TOKEN), stake(WRONG, 7n * TOKEN));
  const last = await newestBlock();
  for (let block = 0; block < DEPTH; block++) {
    await chain.player.block(last.timestampSeconds + 12 * (block + 1));
  }
  bench = await ConsoleBench.start({
    RPC_URLS: chain.rpc.url,
    VAULT_CONTRACT: vault.vault,
    FINALITY: `depth:${DEPTH}`,
  });
  await index(last);
  operator = await bench.signedIn(OPERATOR);
});
afterAll(async () => {
  await bench.stop();
  await vault.chain.stop();
});

async function newestBlock(tag = 'latest'): Promise<BlockRef> {
  const { number, hash, timestamp } = await vault.chain.rpc.call<
    Record<'number' | 'hash' | 'timestamp', string>
  >('eth_getBlockByNumber', tag, false);
  return {
    number: BigInt(number),
    hash: hash as BlockHash,
    timestampSeconds: Number(timestamp),
  };
}

/** Indexes both wallets, with one token too many for `WRONG`. */
async function index(last: BlockRef): Promise<void> {
  const { chain } = vault;
  const { staking, token } = chain.contracts;
  const store = new IndexStore(bench.database);
  const first = await newestBlock('0x0');
  await store.create(
    anInitialIndex({
      chainId: chain.chainId,
      stakeContract: staking,
      tokenContract: token,
      settings: { stakeContracts: [staking], startBlock: '1', events: [] },
      head: first,
    }),
  );
  const fence = await store.takeLead();
  const balances = [
    { wallet: RIGHT, balance: 5n * TOKEN },
    { wallet: WRONG, balance: 8n * TOKEN },
  ];
  const { number: blockNumber, timestampSeconds } = last;
  await store.commit({
    fence,
    previousHead: first,
    head: last,
    folded: aFold({
      changes: balances.map((change) => ({ ...change, blockNumber, timestampSeconds })),
      days: balances.map(({ wallet, balance }) => ({
        ...{ wallet, day: dayOf(timestampSeconds), low: 0n, closing: balance },
      })),
      total: 13n * TOKEN,
    }),
    blocks: [],
    finalised: last,
  });
}

it.each([
  ['agrees', RIGHT, { agrees: true, indexed: '5', contract: '5' }],
  ['differs', WRONG, { agrees: false, indexed: '8', contract: '7' }],
  ['has never staked', aWallet(0x99), { agrees: true, indexed: '0', contract: '0' }],
])('a wallet that %s, compared with the contract now', async (_, wallet, found) => {
  const answers = await Promise.all([
    operator.post(`/api/operate/wallets/${wallet}/audit`),
    operator.post(`/api/operate/wallets/${wallet}/audit`),
  ]);
  for (const answer of answers) {
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ ...found, tokenSymbol: 'LOW' });
  }
});

it('the vault is as the chain has it: what it holds, what is left, whether it pays', async () => {
  const viewer = await bench.signedIn(VIEWER);
  const [before] = await vaultsOf(viewer);
  expect(before).toMatchObject({ address: vault.vault, isVault: true, isPaused: false });
  expect(before?.['balance']).toMatch(/^\d+(\.\d+)?$/);
  const { timestampSeconds } = await newestBlock();
  await vault.mineAt(timestampSeconds + 12, vault.call(VaultBench.PAUSER, 'pause'));
  expect((await vaultsOf(viewer))[0]).toMatchObject({ isVault: true, isPaused: true });
});

it('a chain that is away is one sentence, and the rest goes on', async () => {
  const viewer = await bench.signedIn(VIEWER);
  await vault.chain.stop();
  const asked = viewer.get('/api/operate/overview/vaults');
  expect(await refusalOf(asked)).toBe('503 CHAIN_UNAVAILABLE');
  expect((await viewer.get('/api/operate/overview/index')).status).toBe(200);
  const audit = operator.post(`/api/operate/wallets/${RIGHT}/audit`);
  expect(await refusalOf(audit)).toBe('503 CHAIN_UNAVAILABLE');
});

async function vaultsOf(viewer: Visitor): Promise<Record<string, unknown>[]> {
  const answer = await viewer.get('/api/operate/overview/vaults');
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { vaults: Record<string, unknown>[] }).vaults;
}
