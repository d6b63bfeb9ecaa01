import {
  type DeliveryStore,
  type DeliveryWrite,
  LeaseLostError,
  type LeaseRequest,
  RedemptionMissingError,
  StaleRedemptionError,
  type StoredDelivery,
} from '#libs/db';
import { type PartnerId, type UuidV7 } from '#libs/domain';
import { type DeliveryRow, type MemoryLedger } from './memory-ledger.js';
import { endCall } from './memory-redemption-store.js';
import { refusal } from './row-guards.js';

/** DeliveryStore on a MemoryLedger. */
export class MemoryDeliveryStore implements Pick<DeliveryStore, keyof DeliveryStore> {
  constructor(private readonly ledger: MemoryLedger) {}

  lease(request: LeaseRequest): Promise<StoredDelivery[]> {
    const { count, owner, leaseMs } = request;
    const due = this.due(request);
    due.sort((a, b) => (a.delivery.nextActionAtMs ?? 0) - (b.delivery.nextActionAtMs ?? 0));
    const leased = due.slice(0, count);
    const lease = { owner, untilMs: this.ledger.nowMs + leaseMs };
    for (const row of leased) this.put({ ...row, lease });
    return Promise.resolve(leased.map(storedOf));
  }

  /** Whether a lease would find anything. */
  hasDue(request: LeaseRequest): boolean {
    return this.due(request).length > 0;
  }

  postpone({ redemptionId, delivery }: StoredDelivery, owner: string, untilMs: number) {
    const row = this.ledger.tables.deliveries.get(redemptionId);
    if (row?.lease?.owner === owner && row.delivery.version === delivery.version) {
      const version = delivery.version + 1;
      const next = { ...row.delivery, version, nextActionAtMs: untilMs };
      this.put({ ...row, delivery: next, lease: null });
    }
    return Promise.resolve();
  }

  makeDueNow(partner: PartnerId, nowMs: number): Promise<number> {
    const { ledger } = this;
    let count = 0;
    for (const row of ledger.tables.deliveries.values()) {
      const { nextActionAtMs, version } = row.delivery;
      const waits = nextActionAtMs !== null && nextActionAtMs > nowMs && ledger.isFree(row.lease);
      if (row.partner !== partner || !waits) continue;
      if (this.lastOutcome(row.redemptionId) !== 'nothing-sent') continue;
      const next = { ...row.delivery, version: version + 1, nextActionAtMs: nowMs };
      this.put({ ...row, delivery: next });
      count++;
    }
    if (count > 0) ledger.onHint();
    return Promise.resolve(count);
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- an error is a rejection, as of the other store
  async apply(write: DeliveryWrite): Promise<void> {
    const { ledger } = this;
    const { redemptionId: id, before, next, owner, callEnd, audit } = write;
    const row = ledger.tables.deliveries.get(id);
    if (row === undefined) throw new RedemptionMissingError(id);
    const isOwner = owner === undefined || row.lease?.owner === owner;
    if (row.delivery.version !== before.version || !isOwner) {
      throw isOwner ? new StaleRedemptionError(id) : new LeaseLostError(id);
    }
    if (next.version !== before.version + 1) throw refusal('23000', 'guard');
    const isReleased = write.release === true || next.nextActionAtMs === null;
    const undeliveredAtMs =
      next.state === 'undelivered' ? (row.undeliveredAtMs ?? ledger.nowMs) : null;
    const begun = next.openRequestId === before.openRequestId ? null : next.openRequestId;
    if (callEnd !== undefined) endCall(ledger, callEnd, id);
    if (begun !== null) {
      const call = { requestId: begun, redemptionId: id, partner: row.partner } as const;
      const begunAtMs = ledger.nowMs;
      ledger.tables.calls.set(begun, { ...call, step: 'confirm', begunAtMs, end: null });
    }
    const lease = isReleased ? null : row.lease;
    this.put({ ...row, delivery: next, undeliveredAtMs, lease });
    if (audit !== undefined) ledger.onHint();
  }

  get(id: UuidV7): Promise<StoredDelivery | undefined> {
    const row = this.ledger.tables.deliveries.get(id);
    return Promise.resolve(row && storedOf(row));
  }

  listUndelivered(limit: number): Promise<StoredDelivery[]> {
    const found = [...this.ledger.tables.deliveries.values()]
      .filter(({ undeliveredAtMs }) => undeliveredAtMs !== null)
      .sort((a, b) => (a.undeliveredAtMs ?? 0) - (b.undeliveredAtMs ?? 0));
    return Promise.resolve(found.slice(0, limit).map(storedOf));
  }

  private due({ dueByMs = this.ledger.nowMs }: LeaseRequest): DeliveryRow[] {
    const { ledger } = this;
    return [...ledger.tables.deliveries.values()].filter(({ delivery, lease }) => {
      const { nextActionAtMs } = delivery;
      return nextActionAtMs !== null && nextActionAtMs <= dueByMs && ledger.isFree(lease);
    });
  }

  private lastOutcome(id: UuidV7): string | undefined {
    let last: { readonly atMs: number; readonly outcome: string | undefined } | undefined;
    for (const { redemptionId, step, begunAtMs, end } of this.ledger.tables.calls.values()) {
      if (redemptionId !== id || step !== 'confirm') continue;
      if (last === undefined || begunAtMs >= last.atMs) {
        last = { atMs: begunAtMs, outcome: end?.outcome };
      }
    }
    return last?.outcome;
  }

  private put(row: DeliveryRow): void {
    this.ledger.tables.deliveries.set(row.redemptionId, row);
  }
}

function storedOf({ redemptionId, partner, payload, delivery }: DeliveryRow): StoredDelivery {
  return { redemptionId, partner, payload, delivery };
}
