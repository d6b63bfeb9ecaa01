/**
 * Who is here. How many replicas live says whoever lives without Redis too (the database); how many have Redis, Redis itself.
 * Where the former are more, somebody counts apart, and those who have Redis use only their own shares: each request weighs more.
 */
import { SingleFlight } from '#libs/platform';
import { type RedisLink } from '../redis/redis-link.js';
import { type Scripts } from '../redis/scripts.js';
import { ATTEND } from './attend.lua.js';

/** At least as often a replica says that it is here. */
export const BEAT_MS = 500;
/** Not heard of for so long it has no Redis. A beat later everybody acts on it: before LEASE_MS of `own-share.ts`. */
const HERE_MS = 2500;
/** So long a new replica waits for those who know whether an empty Redis has lost something. */
const WAIT_MS = 2000;

/** The names in Redis of what the replicas of one service agree on and count by. */
export interface AgreementKeys {
  readonly agreed: string;
  readonly replicas: string;
  /** What the names of limits begin with. */
  readonly limit: string;
}

/** @param family of the service; absent: the api */
export function agreementKeys(family?: string): AgreementKeys {
  const place = family === undefined ? 'lowmark' : `lowmark:${family}`;
  return { agreed: `${place}:agreed`, replicas: `${place}:replicas`, limit: `${place}:limit:` };
}

export interface AttendanceOptions {
  readonly scripts: Scripts;
  readonly keys: AgreementKeys;
  /** Of this replica, like nobody else's. */
  readonly id: string;
  /** How many replicas live, this one included. Where it fails, or is none, the number before holds. */
  readonly countReplicas: () => Promise<number>;
  /** Any clock that is never set back. */
  readonly nowMs: () => number;
}

export class Attendance {
  /** That live, as far as is known. */
  replicas = 1;
  /** What a request weighs in Redis. */
  weight = 1;
  private agreedWith: number | undefined;
  private wasHere = false;
  private waitingSinceMs: number | undefined;
  private living: number | undefined;
  private readonly counts = new SingleFlight<void>();

  constructor(
    private readonly link: Pick<RedisLink, 'isUp' | 'timesUp'>,
    private readonly options: AttendanceOptions,
  ) {}

  /** Redis is up, and knows that this replica is here. */
  get isHere(): boolean {
    return this.link.isUp && this.agreedWith === this.link.timesUp;
  }

  /** Nobody else lives; that was counted. */
  get isAlone(): boolean {
    return this.living === 1 && this.replicas === 1;
  }

  /** Redis has forgotten what was agreed. */
  forget(): void {
    this.agreedWith = undefined;
  }

  /** Never throws. A database that is slow does not make anybody late for Redis, but at the start. */
  async beat(): Promise<void> {
    const counted = this.count();
    if (this.living === undefined) await counted;
    // As counted at the last beat: who has just started is about to come. Where that cannot be counted nobody is taken to have left.
    const { living = this.replicas } = this;
    const { timesUp } = this.link;
    try {
      const here = Number(await this.attend());
      if (here === 0) this.waitingSinceMs ??= this.options.nowMs();
      if (!(here >= 1)) throw new TypeError('Not counted');
      this.replicas = Math.max(living, here);
      this.weight = this.replicas / here;
      this.wasHere = true;
      this.agreedWith = timesUp;
    } catch {
      // It has to wait for others, or the link has told whoever needs to know.
      this.forget();
      this.replicas = Math.max(this.replicas, living);
    }
  }

  private attend(): Promise<unknown> {
    const { id, keys, nowMs } = this.options;
    const { waitingSinceMs = Infinity } = this;
    const mayWait = !this.wasHere && !(nowMs() >= waitingSinceMs + WAIT_MS);
    return this.options.scripts.run(ATTEND, {
      keys: [keys.agreed, keys.replicas],
      args: [id, HERE_MS, mayWait ? (this.living ?? 0) : 0],
    });
  }

  private count(): Promise<void> {
    return this.counts.run(() =>
      this.options.countReplicas().then(
        (living) => {
          if (living >= 1) this.living = living;
        },
        () => undefined,
      ),
    );
  }
}
