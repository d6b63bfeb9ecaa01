import { sleep } from '#libs/platform';

/** The clock of the pool. A sleep advances it by at least the time slept, whatever the underlying clock says. */
export class PoolTime {
  private aheadMs = 0;

  constructor(
    private readonly clock: { nowMs(): number },
    private readonly sleepFor: Sleep,
  ) {}

  readonly nowMs = (): number => this.clock.nowMs() + this.aheadMs;

  /** The underlying clock, for dates. */
  readonly wallMs = (): number => this.clock.nowMs();

  readonly sleep: Sleep = async (ms, signal) => {
    const untilMs = this.nowMs() + ms;
    await this.sleepFor(ms, signal);
    this.aheadMs = Math.max(this.aheadMs, untilMs - this.clock.nowMs());
  };
}

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** @throws the reason of `signal` */
export async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, signal);
  signal?.throwIfAborted();
}
