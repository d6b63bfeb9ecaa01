import { Inject, Injectable } from '@nestjs/common';
import { SessionStore } from '#libs/db';
import { type Address, type UuidV7 } from '#libs/domain';
import { CLOCK, type Clock, type Logger, sleep } from '#libs/platform';
import { Counter, Gauge, LOGGER, Registry } from '#libs/service';
import { UserError } from '../http/user.error.js';
import { RedemptionSettings } from '../redemption.env.js';
import { type EventStream, STREAM_ENDS, type StreamEnd } from './event-stream.js';
import { type KnownVersions, LiveFeed } from './live-feed.js';

/** Of one wallet, on one process: a browser has six connections to a host. */
const STREAMS_OF_A_WALLET = 5;
/** A page that is refused asks for its redemptions itself, and may try again after this time. */
const RETRY_AFTER_SECONDS = 30;
/** A change is seen so much later, by whichever process it was made. */
const LOOK_MS = 1_000;
/** Sessions are looked at with every third look. */
const LOOKS_A_SESSION = 3;

/** Who listens, until when. */
export interface Listener {
  readonly wallet: Address;
  /** Of the session's token. */
  readonly tokenHash: Buffer;
  /** `Last-Event-ID`. */
  readonly lastEventId: string | undefined;
}

/** Makes the stream; undefined where the client has gone meanwhile. */
export type Connect = (onEnd: (by: StreamEnd) => void) => EventStream | undefined;

interface WalletStreams {
  readonly streams: Map<EventStream, Listener>;
  /** Those that are being opened, too. */
  count: number;
  /** Another object after each change, so that who has read it sees whether it is still so. */
  known: KnownVersions;
}

/**
 * Who listens to redemptions, and tells them of each change. One look for all of them a second, and none while there are no listeners; what
 * a look fails to read is in the next one.
 */
@Injectable()
export class LiveRedemptions {
  private readonly wallets = new Map<Address, WalletStreams>();
  private readonly stopping = new AbortController();
  private readonly open: Gauge;
  private readonly ended: Counter<'by'>;
  private count = 0;
  private isLooking = false;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly feed: LiveFeed,
    private readonly sessions: SessionStore,
    private readonly settings: RedemptionSettings,
    registry: Registry,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.open = new Gauge({
      name: 'lowmark_event_streams',
      help: 'Streams of redemptions that are open',
      registers: [registry],
    });
    this.ended = new Counter({
      name: 'lowmark_event_streams_ended_total',
      help: 'Streams of redemptions that have ended, by whom or what',
      labelNames: ['by'],
      registers: [registry],
    });
    for (const by of STREAM_ENDS) this.ended.inc({ by }, 0);
  }

  /** Nothing is sent before all that the stream begins with was read. @throws UserError 429, 503; DatabaseUnavailableError */
  async listen(listener: Listener, connect: Connect): Promise<void> {
    const { wallet, lastEventId } = listener;
    const mine = this.take(wallet);
    let isTaken = true;
    const giveBack = (): void => {
      if (isTaken) this.giveBack(wallet, mine);
      isTaken = false;
    };
    try {
      const { events, id, known } = await this.feed.opening(wallet, lastEventId);
      if (this.stopping.signal.aborted) throw unavailable();
      const stream = connect((by) => {
        if (stream !== undefined) mine.streams.delete(stream);
        this.ended.inc({ by });
        giveBack();
      });
      if (stream === undefined) {
        giveBack();
        return;
      }
      mine.streams.set(stream, listener);
      mine.known = merged(mine.known, known);
      stream.send(events, id);
      this.look();
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** Ends all streams: their clients come again, to another process. */
  async close(): Promise<void> {
    this.stopping.abort();
    for (const { streams } of this.wallets.values()) {
      for (const stream of [...streams.keys()]) stream.end('shutdown');
    }
    await this.looking;
  }

  private take(wallet: Address): WalletStreams {
    if (this.stopping.signal.aborted || this.count >= this.settings.eventStreamsAtMost) {
      throw unavailable();
    }
    const mine = this.wallets.get(wallet) ?? { streams: new Map(), count: 0, known: new Map() };
    if (mine.count >= STREAMS_OF_A_WALLET) {
      throw new UserError(
        429,
        'RATE_LIMIT_EXCEEDED',
        `This wallet has ${STREAMS_OF_A_WALLET} streams open already: close one, or ask for the redemptions instead.`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    }
    this.wallets.set(wallet, mine);
    mine.count += 1;
    this.count += 1;
    this.open.set(this.count);
    return mine;
  }

  private giveBack(wallet: Address, mine: WalletStreams): void {
    mine.count -= 1;
    this.count -= 1;
    this.open.set(this.count);
    if (mine.count === 0) this.wallets.delete(wallet);
  }

  private look(): void {
    if (this.isLooking) return;
    this.isLooking = true;
    this.looking = this.lookOn();
  }

  /** While there are streams. Never rejects. */
  private async lookOn(): Promise<void> {
    const { signal } = this.stopping;
    let seenMs = this.clock.nowMs();
    let isLost = false;
    for (let looks = 0; this.wallets.size > 0 && !signal.aborted; looks++) {
      await sleep(LOOK_MS, signal);
      try {
        const nowMs = this.clock.nowMs();
        if (looks % LOOKS_A_SESSION === 0) await this.endSessions();
        await this.tell(seenMs);
        seenMs = nowMs;
        isLost = false;
      } catch (error) {
        // Once for each outage; the next look has what this one missed.
        if (!isLost)
          this.logger.warn({ err: error }, 'Redemptions cannot be watched at the moment');
        isLost = true;
      }
    }
    this.isLooking = false;
  }

  private async tell(sinceMs: number): Promise<void> {
    const before = new Map([...this.wallets].map(([wallet, { known }]) => [wallet, known]));
    const { id, wallets } = await this.feed.news(before, sinceMs);
    for (const [wallet, { events, known }] of wallets) {
      const mine = this.wallets.get(wallet);
      // Another stream has begun meanwhile, with what it knows: the next look is for all.
      if (mine === undefined || mine.known !== before.get(wallet)) continue;
      mine.known = known;
      for (const stream of [...mine.streams.keys()]) stream.send(events, id);
    }
  }

  private async endSessions(): Promise<void> {
    const all = [...this.wallets.values()].flatMap(({ streams }) => [...streams]);
    if (all.length === 0) return;
    const hashes = all.map(([, { tokenHash }]) => tokenHash);
    const open = await this.sessions.stillOpen(hashes, this.clock.nowMs());
    for (const [stream, { tokenHash }] of all) {
      if (!open.has(tokenHash.toString('hex'))) stream.end('session');
    }
  }
}

/** What every stream knows: where one of them may know less, the redemption is sent to all again. */
function merged(before: KnownVersions, begun: KnownVersions): KnownVersions {
  if (before.size === 0) return begun;
  const versions = new Map<UuidV7, number>(begun);
  for (const [id, version] of before) {
    versions.set(id, Math.min(version, begun.get(id) ?? 0));
  }
  return versions;
}

function unavailable(): UserError {
  const message = 'There is no room for another stream: ask for the redemptions instead.';
  return new UserError(503, 'SERVICE_UNAVAILABLE', message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
