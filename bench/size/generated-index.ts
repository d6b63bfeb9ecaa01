/**
 * The indexer, as a program, reads a generated history to its end and seals its days. On the way it may be killed and
 * started again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { dayOf } from '#libs/domain';
import { readState, type RunPlace, startIndexer } from '../providers/runs.js';
import { count } from '../support/figures.js';
import { type Program } from '../support/program.js';
import { say } from '../support/progress.js';
import { type Random } from '../support/random.js';

const POLL_MS = 200;
const SAY_EVERY_MS = 10_000;
/** After this time without progress the run fails. */
const STALL_MS = 20 * 60_000;
/** No audit runs beside what is measured. */
const NO_AUDIT = { AUDIT_HOUR_UTC: 'off' };

export interface Phase {
  readonly seconds: number;
  /** Of all processes of the phase, those that were killed included. */
  readonly cpuSeconds: number;
  readonly peakMebibytes: number;
}

interface PhasePlan {
  readonly what: string;
  readonly end: number;
  readonly done: () => Promise<number>;
  /** When the phase has come so far, the program is killed and started again. */
  readonly killsAt: readonly number[];
}

export class GeneratedIndex {
  private program: Program;
  /** CPU seconds of the programs that were killed. */
  private endedSeconds = 0;

  /** @param settings further settings of the indexer */
  constructor(
    private readonly place: RunPlace,
    private readonly random: Random,
    private readonly settings: Readonly<Record<string, string>> = {},
  ) {
    this.program = startIndexer(place, { ...NO_AUDIT, ...settings });
  }

  /** Reads the whole history. */
  index(kills: number): Promise<Phase> {
    const { chain, client } = this.place;
    const done = async (): Promise<number> => {
      const { head, halted, synced } = await readState(client);
      if (halted !== null) throw new Error(`the indexer halted: ${halted}`);
      // The newest block counts once the index is verified.
      return synced ? head : Math.min(head, chain.head - 1);
    };
    const killsAt = Array.from({ length: kills }, () => this.random.between(0, chain.head - 1));
    return this.phase({ what: 'block', end: chain.head, done, killsAt });
  }

  /** Waits until each day that ended before the newest final block is sealed. */
  seal(kills: number): Promise<Phase> {
    const { chain, client } = this.place;
    const newest = chain.secondsOf(chain.numberOf('finalized') ?? 0);
    const end = dayOf(newest) - dayOf(chain.secondsOf(1));
    const done = async (): Promise<number> => {
      const { rows } = await client.query<{ days: number }>(
        'SELECT count(DISTINCT day)::int AS days FROM staking.sealed_day',
      );
      return rows[0]?.days ?? 0;
    };
    const killsAt = Array.from({ length: kills }, () => this.random.between(0, end - 1));
    return this.phase({ what: 'sealed day', end, done, killsAt });
  }

  stop(): Promise<void> {
    return this.program.stop();
  }

  private async phase({ what, end, done, killsAt }: PhasePlan): Promise<Phase> {
    const startMs = performance.now();
    const secondsBefore = this.cpuSeconds();
    const kills = killsAt.toSorted((a, b) => a - b);
    let [peakMebibytes, newest, newestMs, saidMs] = [0, -1, startMs, startMs];
    this.program.resetPeak();
    for (;;) {
      this.program.requireRunning();
      peakMebibytes = Math.max(peakMebibytes, this.program.peakMebibytes() ?? 0);
      const at = await done();
      const nowMs = performance.now();
      if (at > newest) [newest, newestMs] = [at, nowMs];
      if (nowMs - newestMs > STALL_MS) throw new Error(`the indexer stands at ${what} ${at}`);
      const seconds = (nowMs - startMs) / 1000;
      if (nowMs - saidMs > SAY_EVERY_MS) {
        saidMs = nowMs;
        const places = `${what} ${count(at)} of ${count(end)}`;
        say(`  ${places}, ${count(seconds)} s, at most ${count(peakMebibytes)} MiB`);
      }
      if (kills[0] !== undefined && at >= kills[0]) {
        kills.shift();
        await this.killAndStart();
        say(`  killed at ${what} ${count(at)}`);
      } else if (at >= end) {
        return { seconds, cpuSeconds: this.cpuSeconds() - secondsBefore, peakMebibytes };
      }
      // A wait of chance, so that the kills do not follow a rhythm of the indexer.
      await sleep(this.random.between(1, POLL_MS));
    }
  }

  private cpuSeconds(): number {
    return this.endedSeconds + this.program.cpuSeconds();
  }

  private async killAndStart(): Promise<void> {
    this.endedSeconds += this.program.cpuSeconds();
    await this.program.kill();
    this.program = startIndexer(this.place, { ...NO_AUDIT, ...this.settings });
  }
}
