/**
 * Seals days by the indexer's thread, in a process of its own whose memory is measured. Each message of the parent
 * process is a day.
 */
import { type SealOutcome } from '#libs/db';
import { type DayToSeal } from '../../apps/indexer/src/seal/day-sealer.js';
import { SealThread } from '../../apps/indexer/src/seal/seal-thread.js';

export interface SealedInBench {
  readonly outcome: SealOutcome;
  readonly seconds: number;
  /** Of the process, its threads included. */
  readonly cpuSeconds: number;
  /** The largest resident memory of the process so far. */
  readonly peakMb: number;
}

const [url = ''] = process.argv.slice(2);
const data = { url, stakeSet: 'default', applicationName: 'bench' };
const thread = new SealThread(data, new AbortController().signal);

process.on('message', (work: DayToSeal) => {
  void seal(work);
});
process.on('disconnect', () => void thread.stop());

async function seal(work: DayToSeal): Promise<void> {
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  const outcome = await thread.seal(work);
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(before);
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const cpuSeconds = (user + system) / 1e6;
  process.send?.({ outcome, seconds, cpuSeconds, peakMb } satisfies SealedInBench);
}
