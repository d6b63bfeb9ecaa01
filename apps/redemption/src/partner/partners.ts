/** The partners that can be redeemed with, single calls to a partner, and the points that a player has with it. */
import { Inject, Injectable } from '@nestjs/common';
import { type CallEnd, CallbackStore, type PartnerCallback, RedemptionStore } from '#libs/db';
import {
  type Address,
  type BalanceAnswer,
  type CallOutcome,
  LowmarkError,
  parsePartnerId,
  type PartnerId,
  type PartnerPolicy,
  type PartnerStep,
  type UnknownReason,
  type UuidV7,
} from '#libs/domain';
import {
  callOutcome,
  newRequestId,
  type PartnerCall,
  PartnerClient,
  PartnerEndpoint,
} from '#libs/partner-client';
import { CLOCK, type Clock, FreshValue, type Logger } from '#libs/platform';
import { Histogram, LOGGER, Registry } from '#libs/service';
import { hashApiKey, KeyRing } from '#libs/signing';
import { UserError } from '../http/user.error.js';
import { Alerts } from '../observe/alerts.js';

export interface PartnerEntry {
  readonly callback: PartnerCallback;
  readonly endpoint: PartnerEndpoint;
  readonly policy: PartnerPolicy;
}

/** Milliseconds until a change made with the cli is seen. */
const FRESH_MS = 2_000;

/** The partners with their callbacks, as set with the cli, and with their secrets decrypted. */
@Injectable()
export class PartnerDirectory {
  private readonly entries: FreshValue<ReadonlyMap<PartnerId, PartnerEntry>>;
  /** Ids of the partners without a budget that the log has named already. */
  private unbudgeted: ReadonlySet<PartnerId> = new Set();

  constructor(
    private readonly store: CallbackStore,
    private readonly keyRing: KeyRing,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.entries = new FreshValue(() => this.load(), { clock, ttlMs: FRESH_MS });
  }

  /** @throws DatabaseUnavailableError */
  async find(partnerId: PartnerId): Promise<PartnerEntry | undefined> {
    return (await this.entries.get()).get(partnerId);
  }

  /**
   * Finds a partner by id, or by name in any capitals. A text that looks like an id is never a name.
   * @throws UserError 404; DatabaseUnavailableError
   */
  async require(idOrName: string): Promise<PartnerEntry> {
    const entries = await this.entries.get();
    const id = parsePartnerId(idOrName);
    const wanted = idOrName.toLowerCase();
    const [entry, other] =
      id === undefined
        ? [...entries.values()].filter((one) => one.callback.partnerName.toLowerCase() === wanted)
        : [entries.get(id)];
    // The database may tell names apart that are the same here: not all locales have the same small letters.
    if (other !== undefined) {
      throw UserError.notFound('Several partners have this name: give the id of the one you mean.');
    }
    if (entry !== undefined) return entry;
    throw UserError.notFound('There is no such partner; GET /api/partners lists those there are.');
  }

  /** All partners, sorted by name, the paused ones too. */
  async list(): Promise<readonly PartnerEntry[]> {
    return [...(await this.entries.get()).values()];
  }

  private async load(): Promise<ReadonlyMap<PartnerId, PartnerEntry>> {
    const callbacks = await this.store.list();
    const entries = callbacks.flatMap((callback) => this.entryOf(callback) ?? []);
    this.tellUnbudgeted(callbacks);
    return new Map(entries.map((entry) => [entry.callback.partnerId, entry]));
  }

  /** Logs each partner without a budget once: its redemptions are refused until the operator sets one. */
  private tellUnbudgeted(callbacks: readonly PartnerCallback[]): void {
    const without = callbacks.filter((one) => one.dailyTokenBudget === undefined);
    for (const { partnerId, partnerName } of without) {
      if (this.unbudgeted.has(partnerId)) continue;
      this.logger.warn(
        { partner: partnerId, partnerName },
        'No redemptions with this partner: it has no daily token budget. Set one: partner set NAME --daily-token-budget TOKENS',
      );
    }
    this.unbudgeted = new Set(without.map(({ partnerId }) => partnerId));
  }

  /** @returns undefined where the secret cannot be decrypted, which must not stop the other partners */
  private entryOf(callback: PartnerCallback): PartnerEntry | undefined {
    const { partnerId, url, key, secretCiphertext, capabilities, confirms } = callback;
    try {
      const sharedSecret = this.keyRing.open(secretCiphertext, hashApiKey(key));
      const endpoint = new PartnerEndpoint({ partnerId, baseUrl: url, apiKey: key, sharedSecret });
      return { callback, endpoint, policy: { capabilities, confirms } };
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.logger.error(
        { partner: partnerId, partnerName: callback.partnerName, code: error.code },
        'A partner cannot be called until its callback is set again',
      );
      return undefined;
    }
  }
}

export interface CallOf<S extends PartnerStep> {
  readonly call: Extract<PartnerCall, { step: S }> & { readonly step: S };
  readonly address: Address;
  /** Id of the call's row, which was committed before the call. */
  readonly requestId: UuidV7;
  readonly redemptionId?: UuidV7;
  /** The whole call, if shorter than usual. */
  readonly withinMs?: number;
}

export interface CallMade<S extends PartnerStep> {
  readonly outcome: CallOutcome<S>;
  /** Result for the call log. */
  readonly end: CallEnd;
}

/**
 * Makes one call to a partner and reports what is known after it. All that the partner does is an outcome, not an
 * error.
 */
@Injectable()
export class PartnerCaller {
  private readonly listeners: ((partnerId: PartnerId) => void)[] = [];
  private readonly calls: Histogram<'partner' | 'step' | 'outcome'>;

  constructor(
    private readonly client: PartnerClient,
    private readonly alerts: Alerts,
    registry: Registry,
  ) {
    this.calls = new Histogram({
      name: 'lowmark_partner_call_seconds',
      help: 'Calls to partners, by what is known after them',
      labelNames: ['partner', 'step', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers: [registry],
    });
  }

  /** Adds a listener that gets the id of each partner whose circuit has closed again. */
  onCircuitClosed(listener: (partnerId: PartnerId) => void): void {
    this.listeners.push(listener);
  }

  /** Milliseconds for which calls to the partner would be held back; undefined where a call would go out. */
  heldBackMs({ callback }: PartnerEntry): number | undefined {
    return this.client.heldBackMs(callback.partnerId);
  }

  async call<S extends PartnerStep>(
    { endpoint, callback }: PartnerEntry,
    { call, address, requestId, redemptionId, withinMs }: CallOf<S>,
  ): Promise<CallMade<S>> {
    const { step } = call;
    const { partnerId: partner, partnerName } = callback;
    const wasClosed = this.client.circuitOf(partner) === 'closed';
    const limit = withinMs !== undefined && { withinMs };
    const result = await this.client.call(endpoint, call, { requestId, ...limit });
    if (!wasClosed && this.client.circuitOf(partner) === 'closed') {
      for (const listener of this.listeners) listener(partner);
    }
    const outcome = callOutcome({ step, address }, result);
    const labels = { partner: partnerName, step, outcome: outcome.kind };
    this.calls.observe(labels, result.record.timings.total / 1000);
    // The domain judges the partner's answer. A URL that may not be called is a fault of our settings: it needs an
    // alert.
    if (result.kind === 'nothing-sent' && result.alert) {
      this.alerts.raise({
        ...{ severity: 'warning', code: result.cause, partner, step, apiRequest: requestId },
        ...(redemptionId !== undefined && { redemptionId }),
      });
    }
    return { outcome, end: { requestId, outcome: result.kind, record: result.record } };
  }
}

const RETRY_AFTER_SECONDS = 10;

/**
 * Unknown outcomes after which a later request may be answered. After any other one the partner's answer makes no
 * sense.
 */
const RETRYABLE_REASONS: readonly UnknownReason[] = [
  'timeout',
  'reset',
  'half-answer',
  'crash',
  'too-slow',
  'server-error',
  'rate-limited',
  'error-internal',
];

/** The number of points that a player has, as the partner's signed answer says. */
@Injectable()
export class PointsService {
  constructor(
    private readonly store: RedemptionStore,
    private readonly caller: PartnerCaller,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws UserError 404, 502, 503; DatabaseUnavailableError */
  async read(
    partner: PartnerEntry,
    address: Address,
    limit: Pick<CallOf<'balance'>, 'withinMs'> = {},
  ): Promise<BalanceAnswer> {
    return answerOf(await this.ask(partner, address, limit));
  }

  /** Asks the partner, and logs the call. @throws DatabaseUnavailableError */
  async ask(
    partner: PartnerEntry,
    address: Address,
    limit: Pick<CallOf<'balance'>, 'withinMs'> = {},
  ): Promise<CallOutcome<'balance'>> {
    const { store, caller, clock } = this;
    const requestId = newRequestId(clock);
    await store.beginBalanceCall(partner.endpoint.partnerId, requestId);
    const call = { step: 'balance', address } as const;
    const { outcome, end } = await caller.call(partner, { call, address, requestId, ...limit });
    await store.endCall(end);
    return outcome;
  }
}

function answerOf(outcome: CallOutcome<'balance'>): BalanceAnswer {
  switch (outcome.kind) {
    case 'succeeded':
      return outcome.answer;
    case 'refused':
      if (outcome.code !== 'ERR-USER-NOT-FOUND') throw unusableAnswer();
      throw new UserError(404, 'USER_NOT_FOUND', 'The partner knows no player with this wallet.');
    case 'nothing-sent':
      throw unavailable(outcome.retryAfterSeconds);
    case 'unknown':
      throw RETRYABLE_REASONS.includes(outcome.reason)
        ? unavailable(outcome.retryAfterSeconds)
        : unusableAnswer();
  }
}

function unavailable(retryAfterSeconds = RETRY_AFTER_SECONDS): UserError {
  const message = 'The partner does not answer at the moment. Try again later.';
  return new UserError(503, 'PARTNER_UNAVAILABLE', message, {
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)),
  });
}

function unusableAnswer(): UserError {
  return new UserError(502, 'PARTNER_ERROR', 'The partner’s answer could not be used.');
}
