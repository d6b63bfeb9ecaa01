import { SingleFlight, sleep } from '#libs/platform';
import { type RedisLink } from '../redis/redis-link.js';
import { Scripts } from '../redis/scripts.js';
import { TurnBatch } from '../redis/turn-batch.js';
import { type AgreementKeys, agreementKeys, Attendance, BEAT_MS } from './attendance.js';
import { capacityMsOf, type Taken, verdictOf } from './gcra.js';
import { OwnShare } from './own-share.js';
import { type RateLimiter, type RatePolicy, type RateVerdict } from './rate-limiter.js';
import { GIVE_BACK, SETTLE, TAKE } from './take.lua.js';

/** Debts moved to Redis with one command: it answers others meanwhile. */
const SETTLED_AT_ONCE = 200;

export interface RedisRateLimiterOptions {
  readonly link: Pick<RedisLink, 'isUp' | 'timesUp' | 'run' | 'closed'>;
  /** Of this replica, like nobody else's. */
  readonly id: string;
  /** Which service the replicas are of, where several use one Redis; absent: the api. */
  readonly family?: string;
  /** How many replicas live, this one included: also while there is no Redis. Where it fails, or is none, the number before holds. */
  readonly countReplicas: () => Promise<number>;
  /** Unix milliseconds in place of every clock, for tests. */
  readonly nowMs?: () => number;
}

/**
 * Counts for all replicas together. Without Redis each replica admits its share of the limits, and puts it on the shared account
 * as soon as Redis is back. How that keeps the limits: `own-share.ts`.
 */
export class RedisRateLimiter implements RateLimiter {
  private readonly link: RedisRateLimiterOptions['link'];
  private readonly scripts: Scripts;
  private readonly attendance: Attendance;
  private readonly own: OwnShare;
  private readonly takes = new TurnBatch((asked: readonly Take[]) => this.takeAll(asked));
  private readonly agreed: AgreementKeys['agreed'];
  private readonly prefix: string;
  private readonly beats = new SingleFlight<void>();

  constructor({ link, id, family, countReplicas, nowMs }: RedisRateLimiterOptions) {
    this.link = link;
    const keys = agreementKeys(family);
    this.agreed = keys.agreed;
    this.prefix = keys.limit;
    this.scripts = new Scripts(link, nowMs);
    const steadyMs = nowMs ?? (() => performance.now());
    this.attendance = new Attendance(link, {
      scripts: this.scripts,
      keys,
      id,
      countReplicas,
      nowMs: steadyMs,
    });
    this.own = new OwnShare(steadyMs);
  }

  /** Says that this replica is here, now and from now on, until the link is closed. Resolves once Redis counts, or cannot. */
  async start(): Promise<void> {
    const timer = setInterval(() => void this.beat(), BEAT_MS).unref();
    this.link.closed.addEventListener('abort', () => {
      clearInterval(timer);
    });
    await this.beat();
    while (this.link.isUp && !this.attendance.isHere && !this.link.closed.aborted) {
      await sleep(BEAT_MS);
      await this.beat();
    }
  }

  /** One at a time; those who come meanwhile wait for that one. Never throws. */
  beat(): Promise<void> {
    return this.beats.run(() => this.attend());
  }

  take(key: string, policy: RatePolicy): Promise<RateVerdict> | RateVerdict {
    if (this.attendance.isHere) return this.takeShared(key, policy);
    // Redis is back: not before it knows who is here.
    if (this.link.isUp) void this.beat();
    return this.own.take(key, policy);
  }

  giveBack(key: string, policy: RatePolicy): void {
    if (this.own.giveBack(key, policy)) return;
    this.scripts
      .run(GIVE_BACK, { keys: [this.prefix + key], args: [policy.rate] })
      .catch(() => undefined);
  }

  private async takeShared(key: string, policy: RatePolicy): Promise<RateVerdict> {
    let answer: Answer;
    try {
      answer = await this.takes.ask({ key, policy });
    } catch {
      // The link has told whoever needs to know. Perhaps it was counted there: then once too often.
      return this.own.take(key, policy);
    }
    this.own.note(key, answer.taken.owedMs);
    return verdictOf(policy, answer.taken, answer);
  }

  private async takeAll(asked: readonly Take[]): Promise<Answer[]> {
    const keys = [this.agreed, ...asked.map(({ key }) => this.prefix + key)];
    const { weight } = this.attendance;
    const args = [weight];
    for (const { policy } of asked) args.push(policy.rate, policy.burst);
    const owed = await this.numbers(TAKE, { keys, args });
    return owed.map((one) => ({ taken: takenFrom(one), weight }));
  }

  private async attend(): Promise<void> {
    await this.attendance.beat();
    const { isHere, replicas, isAlone } = this.attendance;
    if (isHere) this.own.join();
    else this.own.leave();
    this.own.divide(replicas, isAlone);
    if (isHere) await this.settle().catch(() => undefined);
  }

  /** What does not fit yet stays here, until the next beat. */
  private async settle(): Promise<void> {
    const owed = this.own.owed();
    for (let from = 0; from < owed.length && this.attendance.isHere; from += SETTLED_AT_ONCE) {
      const some = owed.slice(from, from + SETTLED_AT_ONCE);
      const moved = await this.numbers(SETTLE, {
        keys: [this.agreed, ...some.map(({ key }) => this.prefix + key)],
        args: some.flatMap(({ policy, owedMs }) => [capacityMsOf(policy), owedMs]),
      });
      for (const [place, { key }] of some.entries()) this.own.settle(key, moved[place] ?? 0);
    }
  }

  /** @throws RedisUnavailableError; TypeError where Redis no longer knows who is here, or the answer is none */
  private async numbers(
    script: typeof TAKE,
    { keys, args }: { keys: readonly string[]; args: readonly number[] },
  ): Promise<number[]> {
    const reply = await this.scripts.run(script, { keys, args });
    const numbers = Array.isArray(reply) ? reply.map(Number) : [];
    if (numbers.length !== keys.length - 1 || !numbers.every(Number.isFinite)) {
      this.attendance.forget();
      throw new TypeError('The script answers with as many numbers as there are keys');
    }
    return numbers;
  }
}

interface Take {
  readonly key: string;
  readonly policy: RatePolicy;
}

interface Answer {
  readonly taken: Taken;
  readonly weight: number;
}

function takenFrom(owed: number): Taken {
  return owed < 0 ? { allowed: false, owedMs: -1 - owed } : { allowed: true, owedMs: owed };
}
