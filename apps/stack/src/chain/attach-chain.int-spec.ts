import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressOfKey, type DevChain, launchDevChain, mintPrivateKey } from '#libs/devchain';
import { systemClock } from '#libs/platform';
import { LocalChain } from './local-chain.js';
import { Screen } from '../context.js';
import { attachChain } from './start-chain.js';

const SIX_WEEKS_AND_AN_HOUR = 42 * 86_400 + 3_600;
const CHAIN = { chainId: 31_337, accounts: 44, finalityDepth: 64 };
const signer = addressOfKey(mintPrivateKey());

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
