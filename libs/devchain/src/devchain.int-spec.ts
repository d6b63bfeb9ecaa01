import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAddress } from '#libs/domain';
import { type DevChain, launchDevChain, saveChainState } from './anvil.js';
import { deployStaking } from './deployments.js';
import { stake, StakingPlayer, withdraw } from './player.js';

const START = 1_760_000_000;
const running: DevChain[] = [];
async function launch(options: Parameters<typeof launchDevChain>[0]): Promise<DevChain> {
  const chain = await launchDevChain(options);
  running.push(chain);
  return chain;
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((chain) => chain.stop()));
});

const blockAt = (chain: DevChain, number: bigint) =>
  chain.rpc.call<Record<'hash' | 'parentHash', string>>(
    'eth_getBlockByNumber',
    `0x${number.toString(16)}`,
    false,
  );

describe('the local chain', () => {
  it('goes on from a saved state with the same blocks, receipts and logs', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'lowmark-chain-'));
    try {
      const stateFile = join(directory, 'state.json');
      const chain = await launch({ genesisSeconds: START, accounts: 3, chainId: 4_242_424 });
      const contracts = await deployStaking(chain.rpc, START);
      const player = new StakingPlayer(chain.rpc, contracts);
      const [, wallet] = (await chain.rpc.call<string[]>('eth_accounts')).map(parseAddress);
      if (!wallet) throw new Error('no second account');
      await player.fund([wallet], 1_000n, START + 1);
      const head = await player.play(
        Array.from({ length: 40 }, (_, index) => ({
          seconds: START + 60 * (index + 1),
          transactions: [stake(wallet, 5n), stake(wallet, 1n), withdraw(wallet, 2n)],
        })),
      );
      const before = await everything(chain, head);
      await saveChainState(chain, stateFile);
      await chain.stop();
      expect(await readdir(directory)).toEqual(['state.json']);

      const again = await launch({ stateFile, accounts: 3, chainId: 4_242_424 });
      expect(await everything(again, head)).toEqual(before);
      const resumed = new StakingPlayer(again.rpc, contracts);
      resumed.markFunded([wallet]);
      const next = await resumed.block(START + 3_000, withdraw(wallet, 160n));
      expect((await blockAt(again, next)).parentHash).toBe((await blockAt(again, head)).hash);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('ends with the process that started it, even a killed one', async () => {
    const script = `
      import { launchDevChain } from '#libs/devchain';
      const chain = await launchDevChain();
      console.log(chain.pid);
      setInterval(() => {}, 1_000);
    `;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const printed = once(parent.stdout, 'data').then(([data]) => String(data));
    const pid = Number(await Promise.race([printed, once(parent, 'exit').then(() => 'nothing')]));
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    for (let waitedMs = 0; waitedMs < 8_000 && isAlive(pid); waitedMs += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(isAlive(pid)).toBe(false);
  });
});

async function everything(chain: DevChain, head: bigint) {
  const numbers = Array.from({ length: Number(head) + 1 }, (_, index) => `0x${index.toString(16)}`);
  const batch = (method: string, ...rest: unknown[]) =>
    chain.rpc.batch(numbers.map((number) => ({ method, params: [number, ...rest] })));
  return {
    blocks: await batch('eth_getBlockByNumber', true),
    receipts: await batch('eth_getBlockReceipts'),
    logs: await chain.rpc.call('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
