import { Injectable } from '@nestjs/common';
import { RedemptionChanges, RedemptionStore, type StoredRedemption } from '#libs/db';
import { type Address, type UuidV7 } from '#libs/domain';
import { RedemptionPresenter } from '../redemptions/redemption-presenter.js';
import { eventText } from './event-stream.js';

/** The newest version of each redemption that a wallet's streams were sent. */
export type KnownVersions = ReadonlyMap<UuidV7, number>;

export interface Opening {
  readonly events: readonly string[];
  readonly id: string;
  readonly known: KnownVersions;
}

export interface WalletNews {
  readonly events: readonly string[];
  readonly known: KnownVersions;
}

export interface News {
  readonly id: string;
  readonly wallets: ReadonlyMap<Address, WalletNews>;
}

const PAGE = 20;
/**
 * Limits of what is sent after a reconnection, in redemptions and in milliseconds: a client that has missed more, or
 * was away for longer, gets the newest page instead.
 */
const MOST_MISSED = 100;
const LONGEST_AWAY_MS = 24 * 3_600_000;

/** Makes the events of streams from the rows, whatever process wrote the rows. */
@Injectable()
export class LiveFeed {
  constructor(
    private readonly store: RedemptionStore,
    private readonly changes: RedemptionChanges,
    private readonly presenter: RedemptionPresenter,
  ) {}

  /**
   * The newest page and the open redemptions; for a client that reconnects, what it has missed instead.
   * @param lastEventId as the client sent it
   * @throws DatabaseUnavailableError
   */
  async opening(wallet: Address, lastEventId: string | undefined): Promise<Opening> {
    const asOfMs = await this.changes.asOfMs();
    const sinceMs = momentOf(lastEventId, asOfMs);
    const missed =
      sinceMs === undefined
        ? undefined
        : await this.changes.changedSince(wallet, sinceMs, MOST_MISSED);
    const id = String(asOfMs);
    if (missed !== undefined) {
      return { id, events: await this.redemptions(missed), known: versionsOf(missed) };
    }
    const found = await this.store.list(wallet, PAGE + 1);
    const page = await this.presenter.presentPage(found, PAGE);
    const ids = new Set(page.redemptions.map((one) => one.id));
    const open = (await this.changes.changedSince(wallet, undefined, MOST_MISSED)) ?? [];
    const others = open.filter(({ redemption }) => !ids.has(redemption.id));
    const events = [eventText('snapshot', page), ...(await this.redemptions(others))];
    return { id, events, known: versionsOf([...others, ...found.slice(0, PAGE)]) };
  }

  /**
   * The changes since the poll before.
   * @param listening known versions of each wallet with streams
   * @param sinceMs time of the poll before
   * @throws DatabaseUnavailableError
   */
  async news(listening: ReadonlyMap<Address, KnownVersions>, sinceMs: number): Promise<News> {
    const watched = [...listening.values()].flatMap((known) => [...known.keys()]);
    const wallets = [...listening.keys()];
    const { asOfMs, seen } = await this.changes.look({ wallets, watched, sinceMs });
    const changed = seen.filter((one) => listening.get(one.wallet)?.get(one.id) !== one.version);
    const read = await this.changes.read(changed.map(({ id }) => id));
    const newer = versionsOf(read);
    const known = new Map(wallets.map((wallet) => [wallet, new Map<UuidV7, number>()]));
    for (const { id, wallet, version, isWatched } of seen) {
      if (isWatched) known.get(wallet)?.set(id, newer.get(id) ?? version);
    }
    const events = new Map<Address, string[]>();
    for (const stored of read) {
      const { wallet } = stored.redemption;
      const [event] = await this.redemptions([stored]);
      if (event !== undefined) events.set(wallet, [...(events.get(wallet) ?? []), event]);
    }
    const news = [...known].map(
      ([wallet, versions]) =>
        [wallet, { events: events.get(wallet) ?? [], known: versions }] as const,
    );
    return { id: String(asOfMs), wallets: new Map(news) };
  }

  private async redemptions(stored: readonly StoredRedemption[]): Promise<string[]> {
    const bodies = await Promise.all(stored.map((one) => this.presenter.present(one)));
    return bodies.map((body) => eventText('redemption', body));
  }
}

/** @returns undefined where the id is not one of ours, or is too old */
function momentOf(lastEventId: string | undefined, asOfMs: number): number | undefined {
  if (lastEventId === undefined || !/^[1-9]\d{0,14}$/.test(lastEventId)) return undefined;
  const sinceMs = Number(lastEventId);
  return sinceMs <= asOfMs && sinceMs >= asOfMs - LONGEST_AWAY_MS ? sinceMs : undefined;
}

function versionsOf(stored: readonly StoredRedemption[]): Map<UuidV7, number> {
  return new Map(stored.map(({ redemption }) => [redemption.id, redemption.version]));
}
