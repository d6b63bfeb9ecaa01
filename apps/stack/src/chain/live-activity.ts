import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock } from '#libs/platform';
import { Crowd, Random } from './history.js';
import { type LocalChain } from './local-chain.js';

const BLOCK_EVERY_MS = 2_000;
const SAVE_EVERY_BLOCKS = 30n;

/**
 * Keeps the chain going: a block every two seconds with the time of the wall clock, some events in every third or so, and
 * the state saved every minute, or sooner where others mine as well. Ends, and with it the promise, when `signal` says so; the state is saved once more.
 */
export async function liveActivity(
  local: LocalChain,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const random = new Random(clock.nowMs());
  const crowd = new Crowd(random, local.wallets, await local.staked());
  let saved = await local.player.head();
  while (!signal.aborted) {
    const startedMs = clock.nowMs();
    const head = await local.mine(...(random.chance(0.35) ? crowd.transactions(1, 3) : []));
    if (head - saved >= SAVE_EVERY_BLOCKS) {
      await local.save();
      saved = head;
    }
    const restMs = Math.max(0, BLOCK_EVERY_MS - (clock.nowMs() - startedMs));
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }
  await local.save();
}
