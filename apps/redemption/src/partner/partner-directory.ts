import { Inject, Injectable } from '@nestjs/common';
import { CallbackStore, type PartnerCallback } from '#libs/db';
import { LowmarkError, type PartnerPolicy } from '#libs/domain';
import { PartnerEndpoint } from '#libs/partner-client';
import { CLOCK, type Clock, FreshValue, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { hashApiKey, KeyRing } from '#libs/signing';
import { UserError } from '../http/user.error.js';

/** A partner that can be redeemed with. */
export interface PartnerEntry {
  readonly callback: PartnerCallback;
  readonly endpoint: PartnerEndpoint;
  readonly policy: PartnerPolicy;
}

/** What the cli changes is seen so soon. */
const FRESH_MS = 2_000;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The partners with their callbacks, as the cli has set them, with the secrets opened. */
@Injectable()
export class PartnerDirectory {
  private readonly entries: FreshValue<ReadonlyMap<string, PartnerEntry>>;
  /** Ids of partners that the log has said to be without a budget. */
  private unbudgeted: ReadonlySet<string> = new Set();

  constructor(
    private readonly store: CallbackStore,
    private readonly keyRing: KeyRing,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.entries = new FreshValue(() => this.load(), { clock, ttlMs: FRESH_MS });
  }

  /** @throws DatabaseUnavailableError */
  async find(partnerId: string): Promise<PartnerEntry | undefined> {
    return (await this.entries.get()).get(partnerId);
  }

  /** By id, or by name in whatever capitals. @throws UserError 404; DatabaseUnavailableError */
  async require(idOrName: string): Promise<PartnerEntry> {
    const entries = await this.entries.get();
    const wanted = idOrName.toLowerCase();
    const entry = UUID.test(idOrName)
      ? entries.get(wanted)
      : [...entries.values()].find((one) => one.callback.partnerName.toLowerCase() === wanted);
    if (entry !== undefined) return entry;
    throw UserError.notFound('There is no such partner; GET /api/partners lists those there are.');
  }

  /** By name; the paused ones too. */
  async list(): Promise<readonly PartnerEntry[]> {
    return [...(await this.entries.get()).values()];
  }

  private async load(): Promise<ReadonlyMap<string, PartnerEntry>> {
    const callbacks = await this.store.list();
    const entries = callbacks.flatMap((callback) => this.entryOf(callback) ?? []);
    this.tellUnbudgeted(callbacks);
    return new Map(entries.map((entry) => [entry.callback.partnerId, entry]));
  }

  /** Once for each: its redemptions are refused, and only the operator can mend that. */
  private tellUnbudgeted(callbacks: readonly PartnerCallback[]): void {
    const without = callbacks.filter((one) => one.dailyTokenBudget === undefined);
    for (const { partnerId, partnerName } of without) {
      if (this.unbudgeted.has(partnerId)) continue;
      this.logger.warn(
        { partner: partnerName },
        'No redemptions with this partner: it has no daily token budget. Set one: partner set NAME --daily-token-budget TOKENS',
      );
    }
    this.unbudgeted = new Set(without.map(({ partnerId }) => partnerId));
  }

  /** One partner whose secret cannot be opened must not stop the others. */
  private entryOf(callback: PartnerCallback): PartnerEntry | undefined {
    const { partnerId, url, key, secretCiphertext, capabilities, confirms } = callback;
    try {
      const sharedSecret = this.keyRing.open(secretCiphertext, hashApiKey(key));
      const endpoint = new PartnerEndpoint({ partnerId, baseUrl: url, apiKey: key, sharedSecret });
      return { callback, endpoint, policy: { capabilities, confirms } };
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.error(
        { partner: callback.partnerName, code: error.code },
        'A partner cannot be called until its callback is set again',
      );
      return undefined;
    }
  }
}
