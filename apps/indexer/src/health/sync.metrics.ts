import { Gauge, type Registry } from '#libs/service';
import { type BackfillProgress } from '../backfill/backfill-progress.js';
import { type IndexStatus } from '../follow/index-status.js';

/** How far the sync is and how it verifies, looked at when the metrics are read. */
export function measureSync(
  registry: Registry,
  status: Pick<IndexStatus, 'verification'>,
  progress: Pick<BackfillProgress, 'figures'>,
): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  gauge('lowmark_index_start_block', 'First block that is indexed', () =>
    Number(progress.figures().startBlock),
  );
  gauge(
    'lowmark_index_sync_ratio',
    'Indexed part of the blocks from the first one to the chain’s newest, 0 to 1; 0 before it is known',
    () => progress.figures().ratio ?? 0,
  );
  gauge(
    'lowmark_index_sync_blocks_per_second',
    'Blocks indexed a second, over the last 30 seconds',
    () => progress.figures().blocksPerSecond ?? 0,
  );
  gauge(
    'lowmark_index_sync_seconds_left',
    'Until the index is level with the chain at the rate of the last 30 seconds: 0 when level, NaN while that is not known',
    () => progress.figures().secondsLeft ?? NaN,
  );
  new Gauge({
    name: 'lowmark_index_verification',
    help: '1 for the mode of STAKE_VERIFICATION that is in force',
    labelNames: ['mode'],
    registers: [registry],
    collect() {
      this.reset();
      if (status.verification) this.set({ mode: status.verification.mode }, 1);
    },
  });
}
