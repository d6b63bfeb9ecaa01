import {
  type CallEnd,
  committedPlace,
  type EvidenceSeal,
  IdempotencyConflictError,
  type IdempotencyKey,
  LeaseLostError,
  LimitBreachedError,
  macsOf,
  PartnerIdReusedError,
  type PayoutTakeRequest,
  type RedemptionLeaseRequest,
  RedemptionMissingError,
  type RedemptionStore,
  type ReservationLimits,
  ReservationRefusedError,
  RestoreNotNotedError,
  StaleRedemptionError,
  type StoredRedemption,
  type TransitionWrite,
  verifiedRow,
} from '#libs/db';
import {
  type Address,
  canonicalJson,
  COOL_DOWN_MEMORY_DAYS,
  evidenceContent,
  isFinal,
  mintUuidV7,
  newDelivery,
  type PartnerId,
  recordBreach,
  type Redemption,
  type RedemptionLimits,
  type ReservationRefusal,
  SECONDS_PER_DAY,
  UUID_V7_RANDOM_BYTES,
  type UuidV7,
  type WalletRecord,
} from '#libs/domain';
import { dayOf, type LedgerRow, type MemoryLedger } from './memory-ledger.js';
import { guardChange, guardNew, guardUnique, notNoted, refusal } from './row-guards.js';

const MOST_RECORD_BYTES = 32_768;

/** RedemptionStore on a MemoryLedger. */
export class MemoryRedemptionStore implements Pick<RedemptionStore, keyof RedemptionStore> {
  private readonly verified = new WeakMap<
    Redemption,
    Pick<LedgerRow, 'place' | 'macs'> & { readonly stored: StoredRedemption }
  >();

  constructor(
    private readonly ledger: MemoryLedger,
    private readonly seal?: EvidenceSeal,
  ) {}

  // eslint-disable-next-line @typescript-eslint/require-await -- an error is a rejection, as of the other store
  async create(redemption: Redemption, idempotency: IdempotencyKey, limits: RedemptionLimits) {
    const { ledger, seal } = this;
    const { wallet, id, initialAtMs } = redemption;
    const before = this.keyed(wallet, idempotency);
    if (before !== undefined) return { redemption: before, isNew: false };
    const breach = recordBreach(
      redemption,
      limits,
      this.recordOf(wallet, redemption.partner, initialAtMs),
      initialAtMs,
    );
    if (breach !== undefined) throw new LimitBreachedError(breach);
    const content = evidenceContent(redemption, null);
    const evidence = content === undefined ? null : (seal?.mac(content) ?? null);
    const lostVoucherUntilSeconds = ledger.lostVoucherUntil(redemption);
    const row: LedgerRow = {
      redemption: { ...redemption, lostVoucherUntilSeconds },
      place: null,
      macs: { evidence, names: null },
      lease: null,
    };
    if (ledger.isUnnoted) throw new RestoreNotNotedError({ cause: notNoted() });
    guardNew(row);
    guardUnique(row.redemption, ledger.redemptions());
    const { tables } = ledger;
    tables.redemptions.set(id, row);
    const created = { from: null, to: redemption.state, actor: 'user', requestId: null };
    tables.transitions.set(id, [{ version: redemption.version, event: 'create', ...created }]);
    const { bodyHash } = idempotency;
    tables.keys.set(`${wallet} ${idempotency.key}`, { bodyHash, redemptionId: id });
    ledger.onHint();
    return { redemption, isNew: true };
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async replayed(wallet: Address, idempotency: IdempotencyKey) {
    return this.keyed(wallet, idempotency);
  }

  walletRecord(wallet: Address, partner: PartnerId, nowMs: number): Promise<WalletRecord> {
    return Promise.resolve(this.recordOf(wallet, partner, nowMs));
  }

  promisedTokens(): Promise<bigint> {
    return Promise.resolve(this.ledger.payableTokens());
  }

  lease(request: RedemptionLeaseRequest): Promise<StoredRedemption[]> {
    const { count, owner, leaseMs } = request;
    const leased = this.due(request).sort(byDueTime).slice(0, count);
    const lease = { owner, untilMs: this.ledger.nowMs + leaseMs };
    for (const row of leased) this.put({ ...row, lease });
    return Promise.resolve(leased.map((row) => this.stored(row)));
  }

  /** Whether a lease would find anything. */
  hasDue(request: RedemptionLeaseRequest): boolean {
    return this.due(request).length > 0;
  }

  takePayouts({ count, dueByMs, untilMs }: PayoutTakeRequest): Promise<StoredRedemption[]> {
    const taken = this.duePayouts(dueByMs)
      .sort(byDueTime)
      .slice(0, count)
      .map((row) => ({ ...row, redemption: { ...row.redemption, nextActionAtMs: untilMs } }));
    for (const row of taken) this.put({ ...row, lease: null });
    return Promise.resolve(taken.map((row) => this.stored(row)));
  }

  /** Whether `takePayouts` would find anything. */
  hasDuePayouts({ dueByMs }: PayoutTakeRequest): boolean {
    return this.duePayouts(dueByMs).length > 0;
  }

  leasePayout({ id, version }: Redemption, owner: string, leaseMs: number): Promise<boolean> {
    const { ledger } = this;
    const row = ledger.tables.redemptions.get(id);
    const isAsTaken = row?.redemption.version === version && row.redemption.state === 'authorised';
    if (!isAsTaken || !ledger.isFree(row.lease)) return Promise.resolve(false);
    this.put({ ...row, lease: { owner, untilMs: ledger.nowMs + leaseMs } });
    return Promise.resolve(true);
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async renew(id: UuidV7, owner: string, leaseMs: number): Promise<void> {
    const row = this.leasedBy(id, owner);
    if (row === undefined) throw new LeaseLostError(id);
    this.put({ ...row, lease: { owner, untilMs: this.ledger.nowMs + leaseMs } });
  }

  release(id: UuidV7, owner: string): Promise<boolean> {
    const row = this.leasedBy(id, owner);
    if (row !== undefined) this.put({ ...row, lease: null });
    return Promise.resolve(row !== undefined);
  }

  postpone({ id, version }: Redemption, owner: string, untilMs: number): Promise<void> {
    const row = this.leasedBy(id, owner);
    if (row !== undefined && row.redemption.nextActionAtMs !== null) {
      const isSame = row.redemption.version === version;
      const redemption = isSame ? { ...row.redemption, nextActionAtMs: untilMs } : row.redemption;
      this.put({ ...row, redemption, lease: null });
    }
    return Promise.resolve();
  }

  makeDueNow(partner: PartnerId, nowMs: number): Promise<number> {
    const { ledger } = this;
    let count = 0;
    for (const row of ledger.tables.redemptions.values()) {
      const { redemption } = row;
      const { state, nextActionAtMs, version, id } = redemption;
      const waits = state === 'reverting' && nextActionAtMs !== null && nextActionAtMs > nowMs;
      if (redemption.partner !== partner || !waits || !ledger.isFree(row.lease)) continue;
      const last = ledger.tables.transitions.get(id)?.find((one) => one.version === version);
      if (last?.event !== 'revert-not-sent') continue;
      this.put({ ...row, redemption: { ...redemption, nextActionAtMs: nowMs } });
      count++;
    }
    if (count > 0) ledger.onHint();
    return Promise.resolve(count);
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async apply(write: TransitionWrite): Promise<void> {
    const { ledger, seal } = this;
    const { before, owner, reserve } = write;
    const { id } = before;
    const committed = committedPlace(write);
    const macs = seal && macsOf(write, seal);
    const row = ledger.tables.redemptions.get(id);
    if (row === undefined) throw new RedemptionMissingError(id);
    const refused = reserve && this.reservationRefusal(row.redemption, reserve);
    if (!isAsRead(row, write) || refused !== undefined) {
      if (owner !== undefined && row.lease?.owner !== owner) throw new LeaseLostError(id);
      if (refused !== undefined && row.redemption.version === before.version) {
        throw new ReservationRefusedError(id, refused);
      }
      throw new StaleRedemptionError(id);
    }
    const place = row.place ?? committed ?? null;
    const next = { redemption: withTermsOf(row.redemption, write.decision.next), place };
    this.guard(row, next, write);
    const isReleased = write.release === true || next.redemption.nextActionAtMs === null;
    this.put({ ...row, ...next, macs: macs ?? row.macs, lease: isReleased ? null : row.lease });
    this.follow(write, next.redemption);
    const { nextActionAtMs } = next.redemption;
    const isDue = nextActionAtMs !== null && nextActionAtMs <= ledger.nowMs + 1000;
    if ((isDue && isReleased) || write.decision.command?.kind === 'confirm') ledger.onHint();
  }

  get(id: UuidV7): Promise<StoredRedemption | undefined> {
    const row = this.ledger.tables.redemptions.get(id);
    return Promise.resolve(row && this.stored(row));
  }

  find(wallet: Address, id: UuidV7): Promise<StoredRedemption | undefined> {
    const row = this.ledger.tables.redemptions.get(id);
    return Promise.resolve(row?.redemption.wallet === wallet ? this.stored(row) : undefined);
  }

  list(wallet: Address, limit: number, before?: UuidV7): Promise<StoredRedemption[]> {
    const rows = [...this.ledger.tables.redemptions.values()].filter(
      ({ redemption: one }) => one.wallet === wallet && (before === undefined || one.id < before),
    );
    rows.sort((a, b) => (a.redemption.id < b.redemption.id ? 1 : -1));
    return Promise.resolve(rows.slice(0, limit).map((row) => this.stored(row)));
  }

  beginBalanceCall(partner: PartnerId, requestId: UuidV7): Promise<void> {
    this.beginCall({ requestId, redemptionId: null, partner, step: 'balance' });
    return Promise.resolve();
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async endCall(end: CallEnd): Promise<boolean> {
    return endCall(this.ledger, end);
  }

  private due({ dueByMs = this.ledger.nowMs }: RedemptionLeaseRequest): LedgerRow[] {
    if (this.ledger.isUnnoted) return [];
    return this.dueBy(dueByMs).filter(({ redemption }) => redemption.state !== 'authorised');
  }

  private duePayouts(dueByMs: number): LedgerRow[] {
    return this.dueBy(dueByMs).filter(({ redemption }) => redemption.state === 'authorised');
  }

  private dueBy(dueByMs: number): LedgerRow[] {
    const { ledger } = this;
    return [...ledger.tables.redemptions.values()].filter(
      ({ redemption: { nextActionAtMs }, lease }) =>
        nextActionAtMs !== null && nextActionAtMs <= dueByMs && ledger.isFree(lease),
    );
  }

  private keyed(wallet: Address, { key, bodyHash }: IdempotencyKey): Redemption | undefined {
    const { keys, redemptions } = this.ledger.tables;
    const known = keys.get(`${wallet} ${key}`);
    if (known === undefined) return undefined;
    if (!known.bodyHash.equals(bodyHash)) throw new IdempotencyConflictError();
    return redemptions.get(known.redemptionId)?.redemption;
  }

  private recordOf(wallet: Address, partner: PartnerId, atMs: number): WalletRecord {
    const { ledger } = this;
    const sinceMs = Math.max(0, atMs - COOL_DOWN_MEMORY_DAYS * SECONDS_PER_DAY * 1000);
    const firstId = mintUuidV7(sinceMs, new Uint8Array(UUID_V7_RANDOM_BYTES));
    const own = [...ledger.redemptions()].filter((one) => one.wallet === wallet);
    const unclaimed = own.filter(
      (one) =>
        one.id >= firstId &&
        one.authorisedAtMs !== null &&
        (one.state === 'reverted' || one.state === 'failed' || one.deadEvidence !== null),
    );
    const open = own.filter((one) => one.partner === partner && !isFinal(one.state));
    const ended = unclaimed.map((one) => one.revertedAtMs ?? one.failedAtMs ?? one.stateSinceMs);
    const sum = (all: readonly Redemption[]): bigint =>
      all.reduce((tokens, one) => tokens + one.tokenAmount, 0n);
    const today = (one: Redemption): boolean => dayOf(one.initialAtMs) === dayOf(atMs);
    const isOver = ({ state }: Redemption): boolean => state === 'reverted' || state === 'failed';
    const used = own.filter((one) => today(one) && one.state !== 'created' && !isOver(one));
    const wasted = unclaimed.filter((one) => today(one) && isOver(one));
    return {
      unclaimed: {
        count: unclaimed.length,
        lastEndedAtMs: ended.length === 0 ? undefined : Math.max(...ended),
      },
      usage: {
        open: open.length,
        openId: open.map(({ id }) => id).sort()[0],
        partnerTokensToday: ledger.partnerTokens(partner, atMs),
        walletTokensToday: sum(used) + sum(wasted),
      },
    };
  }

  private reservationRefusal(
    { partner, wallet, tokenAmount, initialAtMs }: Redemption,
    { room, partnerDailyTokens, walletDailyTokens }: ReservationLimits,
  ): ReservationRefusal | undefined {
    const { ledger } = this;
    if (ledger.payableTokens() + tokenAmount > room) return 'payout-unavailable';
    const ofPartner = ledger.partnerTokens(partner, initialAtMs) + tokenAmount;
    if (partnerDailyTokens !== undefined && ofPartner > partnerDailyTokens) return 'budget-spent';
    const ofWallet = ledger.walletTokens(wallet, initialAtMs) + tokenAmount;
    return walletDailyTokens !== undefined && ofWallet > walletDailyTokens
      ? 'budget-spent'
      : undefined;
  }

  /** @throws as the database's triggers, checks and unique indices, and PartnerIdReusedError, RestoreNotNotedError */
  private guard(
    row: LedgerRow,
    next: Pick<LedgerRow, 'redemption' | 'place'>,
    { decision: { command } }: TransitionWrite,
  ): void {
    const { ledger } = this;
    const { id, state } = next.redemption;
    try {
      guardChange(row, next, ledger.isUnnoted);
      guardUnique(next.redemption, ledger.redemptions());
      const begun = begunCall(row.redemption, next.redemption);
      if (begun !== null && ledger.tables.calls.has(begun.requestId)) {
        throw refusal('23505', 'partner_call_pkey');
      }
      if (command?.kind === 'confirm') {
        const { status, svcRedemptionId } = command.payload;
        if (ledger.tables.deliveries.has(id)) throw refusal('23505', 'confirmation_pkey');
        if (status !== state || svcRedemptionId !== id) throw refusal('23000', 'fits');
      }
    } catch (error) {
      throw convertedRefusal(error, id) ?? error;
    }
  }

  /** Writes what belongs to a transition besides its row. */
  private follow(write: TransitionWrite, next: Redemption): void {
    const { before, event, actor, callEnd, decision } = write;
    const { tables } = this.ledger;
    const { id, partner, version, state } = next;
    const begun = begunCall(before, next);
    const requestId = callEnd?.requestId ?? begun?.requestId ?? write.requestId ?? null;
    const transition = { version, event, from: before.state, to: state, actor, requestId };
    tables.transitions.set(id, [...(tables.transitions.get(id) ?? []), transition]);
    if (begun !== null) {
      const { step } = begun;
      this.beginCall({ requestId: begun.requestId, redemptionId: id, partner, step });
    }
    if (callEnd !== undefined) endCall(this.ledger, callEnd, id);
    if (decision.command?.kind === 'confirm') {
      const payload = canonicalJson(decision.command.payload);
      const delivery = newDelivery(next.stateSinceMs);
      const row = { redemptionId: id, partner, payload, delivery };
      tables.deliveries.set(id, { ...row, lease: null, undeliveredAtMs: null });
    }
  }

  private beginCall(
    call: Omit<Parameters<MemoryLedger['tables']['calls']['set']>[1], 'begunAtMs' | 'end'>,
  ): void {
    const { tables, nowMs } = this.ledger;
    tables.calls.set(call.requestId, { ...call, begunAtMs: nowMs, end: null });
  }

  private put(row: LedgerRow): void {
    this.ledger.tables.redemptions.set(row.redemption.id, row);
  }

  private leasedBy(id: UuidV7, owner: string): LedgerRow | undefined {
    const row = this.ledger.tables.redemptions.get(id);
    return row?.lease?.owner === owner ? row : undefined;
  }

  /** A row that was verified before is not verified again. */
  private stored({ redemption, place, macs }: LedgerRow): StoredRedemption {
    const known = this.verified.get(redemption);
    if (known !== undefined && known.place === place && known.macs === macs) return known.stored;
    const stored = verifiedRow(redemption, place, macs, this.seal);
    this.verified.set(redemption, { place, macs, stored });
    return stored;
  }
}

/** Ends a call once. @returns false where the end is known, or there is no such call */
export function endCall({ tables }: MemoryLedger, end: CallEnd, of?: UuidV7): boolean {
  if (Buffer.byteLength(JSON.stringify(end.record)) > MOST_RECORD_BYTES) {
    throw refusal('23514', 'partner_call_record_check');
  }
  const call = tables.calls.get(end.requestId);
  if (call === undefined || call.end !== null) return false;
  if (of !== undefined && call.redemptionId !== of) return false;
  tables.calls.set(call.requestId, { ...call, end });
  return true;
}

function isAsRead({ redemption, lease }: LedgerRow, { before, owner }: TransitionWrite): boolean {
  return (
    redemption.state === before.state &&
    redemption.version === before.version &&
    redemption.lostVoucherUntilSeconds === before.lostVoucherUntilSeconds &&
    (owner === undefined || lease?.owner === owner)
  );
}

function byDueTime(a: LedgerRow, b: LedgerRow): number {
  return (a.redemption.nextActionAtMs ?? 0) - (b.redemption.nextActionAtMs ?? 0);
}

/** A transition writes neither the terms nor the mark of a restore. */
function withTermsOf(row: Redemption, next: Redemption): Redemption {
  const { id, partner, wallet, points, usdAmount, tokenAmount, tokenDecimals, priceUsd } = row;
  const { quoteExpiresAtMs, initialAtMs, lostVoucherUntilSeconds } = row;
  return {
    ...next,
    ...{ id, partner, wallet, points, usdAmount, tokenAmount, tokenDecimals, priceUsd },
    ...{ quoteExpiresAtMs, initialAtMs, lostVoucherUntilSeconds },
  };
}

function begunCall(before: Redemption, { openCall }: Redemption) {
  return openCall?.requestId === before.openCall?.requestId ? null : openCall;
}

function convertedRefusal(error: unknown, id: UuidV7): Error | undefined {
  const { constraint } = ((error as Error).cause ?? {}) as { constraint?: string };
  if (constraint === 'restore_noted') return new RestoreNotNotedError({ cause: error });
  if (constraint === 'redemption_transaction_id')
    return new PartnerIdReusedError(id, 'transaction');
  return constraint === 'redemption_revert_id' ? new PartnerIdReusedError(id, 'revert') : undefined;
}
