import { Inject, Injectable } from '@nestjs/common';
import { addressKey, siteKey } from '#libs/cache';
import { SessionStore } from '#libs/db';
import { type Address, type UuidV7 } from '#libs/domain';
import { CLOCK, type Clock, type Logger, sleep } from '#libs/platform';
import { Counter, Gauge, LOGGER, Registry } from '#libs/service';
import { UserError } from '../http/user.error.js';
import { RedemptionSettings } from '../redemption.env.js';
import { type EventStream, STREAM_ENDS, type StreamEnd } from './event-stream.js';
import { type KnownVersions, LiveFeed } from './live-feed.js';

/** Streams of one wallet on one process: fewer than the six connections that a browser opens to a host. */
const STREAMS_OF_A_WALLET = 5;
/** The part of all streams that one client address may have: wallets cost nothing, so a client can sign in with many. */
const PART_OF_AN_ADDRESS = 1 / 4;
/** Seconds after which a page that was refused may try again; until then it polls its redemptions. */
const RETRY_AFTER_SECONDS = 30;
/** Milliseconds between two polls: a change by any process is seen with this delay. */
const LOOK_MS = 1_000;
/** Polls per check of the sessions. */
const POLLS_PER_SESSION_CHECK = 3;

/** The client of a stream; its stream ends with the session. */
export interface Listener {
  readonly wallet: Address;
  readonly tokenHash: Buffer;
  readonly clientAddress: string;
  readonly lastEventId: string | undefined;
}

/** Makes the stream; undefined where the client has disconnected meanwhile. */
export type Connect = (onEnd: (by: StreamEnd) => void) => EventStream | undefined;

interface WalletStreams {
  readonly streams: Map<EventStream, Listener>;
  /** Number of streams, those that are being opened included. */
  count: number;
  /** Replaced by another object at each change, so that a reader can tell whether it has changed since. */
  known: KnownVersions;
}

/**
 * Keeps the streams of all clients, and sends each change to them. One poll per second serves all streams, and none
 * runs without streams. What a failed poll misses is in the next one.
 */
@Injectable()
export class LiveRedemptions {
  private readonly wallets = new Map<Address, WalletStreams>();
  /** Number of streams by client address; for IPv6 by /48. */
  private readonly addresses = new Map<string, number>();
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

  /**
   * Opens a stream. All that it begins with is read before the first byte is sent.
   * @throws UserError 429, 503; DatabaseUnavailableError
   */
  async listen(listener: Listener, connect: Connect): Promise<void> {
    const { wallet, lastEventId, clientAddress } = listener;
    const address = siteKey(clientAddress) ?? addressKey(clientAddress);
    const mine = this.take(wallet, address);
    let isTaken = true;
    const releaseSlot = (): void => {
      if (isTaken) this.giveBack(wallet, address, mine);
      isTaken = false;
    };
    try {
      const { events, id, known } = await this.feed.opening(wallet, lastEventId);
      if (this.stopping.signal.aborted) throw unavailable();
      const stream = connect((by) => {
        if (stream !== undefined) mine.streams.delete(stream);
        this.ended.inc({ by });
        releaseSlot();
      });
      if (stream === undefined) {
        releaseSlot();
        return;
      }
      mine.streams.set(stream, listener);
      mine.known = merged(mine.known, known);
      stream.send(events, id);
      this.look();
    } catch (error) {
      releaseSlot();
      throw error;
    }
  }

  /** Ends all streams; their clients reconnect to another process. */
  async close(): Promise<void> {
    this.stopping.abort();
    for (const { streams } of this.wallets.values()) {
      for (const stream of [...streams.keys()]) stream.end('shutdown');
    }
    await this.looking;
  }

  private take(wallet: Address, address: string): WalletStreams {
    const { eventStreamsAtMost: most } = this.settings;
    if (this.stopping.signal.aborted || this.count >= most) throw unavailable();
    const ofAddress = this.addresses.get(address) ?? 0;
    if (ofAddress >= Math.max(STREAMS_OF_A_WALLET, Math.ceil(most * PART_OF_AN_ADDRESS))) {
      throw tooMany(
        'There are too many streams from your network: ask for the redemptions instead.',
      );
    }
    const mine = this.wallets.get(wallet) ?? { streams: new Map(), count: 0, known: new Map() };
    if (mine.count >= STREAMS_OF_A_WALLET) {
      throw tooMany(
        `This wallet has ${STREAMS_OF_A_WALLET} streams open already: close one, or ask for the redemptions instead.`,
      );
    }
    this.wallets.set(wallet, mine);
    this.addresses.set(address, ofAddress + 1);
    mine.count += 1;
    this.count += 1;
    this.open.set(this.count);
    return mine;
  }

  private giveBack(wallet: Address, address: string, mine: WalletStreams): void {
    const ofAddress = (this.addresses.get(address) ?? 1) - 1;
    if (ofAddress === 0) this.addresses.delete(address);
    else this.addresses.set(address, ofAddress);
    mine.count -= 1;
    this.count -= 1;
    this.open.set(this.count);
    if (mine.count === 0) this.wallets.delete(wallet);
  }

  private look(): void {
    if (this.isLooking) return;
    this.isLooking = true;
    this.looking = this.pollWhileOpen();
  }

  /** Polls while there are streams. Never rejects. */
  private async pollWhileOpen(): Promise<void> {
    const { signal } = this.stopping;
    let seenMs = this.clock.nowMs();
    let isLost = false;
    for (let looks = 0; this.wallets.size > 0 && !signal.aborted; looks++) {
      await sleep(LOOK_MS, signal);
      try {
        const nowMs = this.clock.nowMs();
        if (looks % POLLS_PER_SESSION_CHECK === 0) await this.endSessions();
        await this.tell(seenMs);
        seenMs = nowMs;
        isLost = false;
      } catch (error) {
        // One message for each outage. The next poll reads what this one missed.
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
      // Another stream was opened meanwhile, with its own known versions: the next poll serves all streams again.
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

/**
 * The versions that all streams of a wallet know. Where one stream may know less, the redemption is sent to all of them
 * again.
 */
function merged(before: KnownVersions, begun: KnownVersions): KnownVersions {
  if (before.size === 0) return begun;
  const versions = new Map<UuidV7, number>(begun);
  for (const [id, version] of before) {
    versions.set(id, Math.min(version, begun.get(id) ?? 0));
  }
  return versions;
}

function tooMany(message: string): UserError {
  return new UserError(429, 'RATE_LIMIT_EXCEEDED', message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function unavailable(): UserError {
  const message = 'There is no room for another stream: ask for the redemptions instead.';
  return new UserError(503, 'SERVICE_UNAVAILABLE', message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
