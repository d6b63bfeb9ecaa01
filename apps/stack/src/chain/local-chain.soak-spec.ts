import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addressOfKey,
  type DevChain,
  launchDevChain,
  mintPrivateKey,
  withdraw,
} from '#libs/devchain';
import { dayOf } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { Screen } from '../context.js';
import { Random } from './history.js';
import { LocalChain } from './local-chain.js';
import { Activity, attachChain } from './start-chain.js';

const [signer, publisher] = [addressOfKey(mintPrivateKey()), addressOfKey(mintPrivateKey())];
// Selector of windowCap().
const WINDOW_CAP = '0xce428b63';

/** The tests build on each other, like starts in one clone. */
describe('the local chain of the stack', () => {
  let directory: string;
  let chain: DevChain | undefined;
  let first: LocalChain;

  const start = async (whose = signer): Promise<LocalChain> => {
    await chain?.stop();
    return LocalChain.start(directory, {
      clock: systemClock,
      screen: new Screen(systemClock, () => undefined),
      ...{ signer: whose, publisher },
      onLaunched: (launched) => (chain = launched),
    });
  };
  const blockAt = (local: LocalChain, block: string) =>
    local.chain.rpc.call<Record<string, string>>('eth_getBlockByNumber', block, false);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lowmark-local-chain-'));
    first = await start();
  });
  afterAll(async () => {
    await chain?.stop();
    await rm(directory, { recursive: true });
  });

  it('has a vault that is final, full, and older than what happens next', async () => {
    const { vault, contracts } = first;
    expect(BigInt((await blockAt(first, 'finalized'))['number'] ?? 0)).toBeGreaterThan(
      vault.startBlock + 1n,
    );
    const data = `0x70a08231${vault.vault.slice(2).padStart(64, '0')}`;
    const call = { to: contracts.token, data };
    const held = await first.chain.rpc.call<string>('eth_call', call, 'finalized');
    expect(BigInt(held)).toBe(10n ** 24n);
  });

  it('has a registry in which its publisher may publish the last seven days', async () => {
    const { registry, chain } = first;
    expect(registry?.firstDay).toBe(dayOf(systemClock.nowMs() / 1000) - 7);
    expect(await chain.rpc.call<string>('eth_getCode', registry?.address, 'latest')).not.toBe('0x');
  });

  it('has wallets that do not stake', async () => {
    const redeemers = await first.redeemers();
    expect(redeemers).toHaveLength(3);
    for (const wallet of redeemers) expect(first.wallets).not.toContain(wallet);
  });

  it('makes final what is in the chain, and never runs ahead of the clock', async () => {
    const newest = await first.player.head();
    await Promise.all([first.finalise(), first.mine()]);
    const final = await blockAt(first, 'finalized');
    expect(BigInt(final['number'] ?? 0)).toBeGreaterThanOrEqual(newest + 1n);
    const seconds = Number((await blockAt(first, 'latest'))['timestamp']);
    expect(seconds).toBeLessThanOrEqual(systemClock.nowMs() / 1000);
  });

  it('has everything on disk that is final', async () => {
    const final = await blockAt(first, 'finalized');
    // Without a save, as if the machine failed.
    const again = await start();
    expect(await blockAt(again, final['number'] ?? '')).toEqual(final);
    expect(again.vault).toEqual(first.vault);
    expect(again.registry).toEqual(first.registry);
  });

  it('can be asked about its final block at once after a start', async () => {
    const again = await start();
    const call = { to: again.vault.vault, data: WINDOW_CAP };
    const final = await blockAt(again, 'finalized');
    const pinned = { blockHash: final['hash'] };
    expect(BigInt(await again.chain.rpc.call<string>('eth_call', call, pinned))).toBe(10n ** 24n);
  });

  it('goes on where others have moved the stakes of its wallets', async () => {
    const local = await start();
    const activity = new Activity(local, new Random(1));
    await activity.move();
    const before = [...(await local.staked())].filter(([, amount]) => amount > 0n);
    await local.mine(...before.map(([wallet, amount]) => withdraw(wallet, amount)));
    const head = await local.player.head();
    for (let move = 0; move < 30; move += 1) await activity.move();
    expect(await local.player.head()).toBe(head + 30n);
    expect([...(await local.staked()).values()].filter((amount) => amount > 0n)).not.toEqual([]);
  });

  it('gets another vault where the signer is another one', async () => {
    const other = await start(addressOfKey(mintPrivateKey()));
    expect(other.vault.vault).not.toBe(first.vault.vault);
    expect(BigInt((await blockAt(other, 'finalized'))['number'] ?? 0)).toBeGreaterThanOrEqual(
      other.vault.startBlock + 1n,
    );
  });

  it('gets a vault where it was saved before there were any', async () => {
    const file = join(directory, 'chain.json');
    const record = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...record, vault: undefined }));
    const again = await start();
    expect(again.vault.startBlock).toBeGreaterThan(first.vault.startBlock);
    const saved = JSON.parse(await readFile(file, 'utf8')) as { vault: { address: string } };
    expect(saved.vault.address).toBe(again.vault.vault);
  });
});

const SIX_WEEKS_AND_AN_HOUR = 42 * 86_400 + 3_600;
const CHAIN = { chainId: 31_337, accounts: 44, finalityDepth: 64 };

/** A chain as compose starts it: separately, with the saved state if there is one. The tests build on each other. */
describe('a local chain that somebody else runs', () => {
  let directory: string;
  let server: DevChain;
  let local: LocalChain;

  const serve = async (stateFile?: string): Promise<void> => {
    const genesisSeconds = Math.floor(systemClock.nowMs() / 1000) - SIX_WEEKS_AND_AN_HOUR;
    server = await launchDevChain({ ...CHAIN, genesisSeconds, ...(stateFile && { stateFile }) });
  };
  const play = async (): Promise<void> => {
    local = await LocalChain.start(directory, {
      clock: systemClock,
      screen: new Screen(systemClock, () => undefined),
      signer,
      onLaunched: () => undefined,
      launch: (options) => attachChain(server.url, options),
    });
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lowmark-attached-'));
    await serve();
    await play();
  });
  afterAll(async () => {
    await local.chain.stop();
    await server.stop();
    await rm(directory, { recursive: true });
  });

  it('gets its contracts and six weeks of history', async () => {
    expect(local.chain.chainId).toBe(CHAIN.chainId);
    expect(await local.player.head()).toBeGreaterThan(1_350n);
    expect((await local.staked()).size).toBe(40);
  });

  it('is noticed to have ended, and goes on from what was saved', async () => {
    const { contracts, vault, chain } = local;
    const head = await local.mine();
    await local.save();
    await server.stop();
    expect((await chain.exited).tail).toContain('does not answer');
    await chain.stop();
    await serve(join(directory, 'state.json'));
    await play();
    expect(local.contracts).toEqual(contracts);
    expect(local.vault.vault).toBe(vault.vault);
    expect(await local.player.head()).toBeGreaterThan(head);
  });

  it('does not end by being left', async () => {
    const left = await attachChain(server.url, { stateFile: 'state.json' });
    await left.stop();
    expect((await left.exited).tail).toBe('');
    expect(Number(await server.rpc.call('eth_blockNumber'))).toBeGreaterThan(0);
  });

  it('is refused where it is not what was saved', async () => {
    await expect(attachChain(server.url, {})).rejects.toThrow('never finished');
    const fresh = await launchDevChain(CHAIN);
    try {
      await expect(attachChain(fresh.url, { stateFile: 'state.json' })).rejects.toThrow(
        'began from its first block',
      );
    } finally {
      await fresh.stop();
    }
  });
});
