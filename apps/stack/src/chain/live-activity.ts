import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock } from '#libs/platform';
import { Crowd } from './crowd.js';
import { type LocalChain } from './local-chain.js';
import { Random } from './random.js';

const BLOCK_EVERY_MS = 2_000;
const SAVE_EVERY_MS = 60_000;

/**
 * Keeps the chain going: a block every two seconds with the time of the wall clock, some events in every third or so, and
 * the state saved every minute. Ends, and with it the promise, when `signal` says so; the state is saved once more.
 */
export async function liveActivity(
  local: LocalChain,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const random = new Random(clock.nowMs());
  const crowd = new Crowd(random, local.wallets, await local.staked());
  let newestSeconds = await headSeconds(local);
  let savedMs = clock.nowMs();
  while (!signal.aborted) {
    const startedMs = clock.nowMs();
    // A clock that is set back must not stop the chain.
    newestSeconds = Math.max(newestSeconds, Math.floor(startedMs / 1000));
    const transactions = random.chance(0.35) ? crowd.transactions(1, 3) : [];
    await local.player.play([{ seconds: newestSeconds, transactions }]);
    if (startedMs - savedMs >= SAVE_EVERY_MS) {
      await local.save();
      savedMs = startedMs;
    }
    const restMs = Math.max(0, BLOCK_EVERY_MS - (clock.nowMs() - startedMs));
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }
  await local.save();
}

async function headSeconds(local: LocalChain): Promise<number> {
  const head = await local.chain.rpc.call<{ timestamp: string }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  return Number(head.timestamp);
}
