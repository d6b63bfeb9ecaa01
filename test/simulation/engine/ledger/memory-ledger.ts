/**
 * The tables of the redemption ledger in memory, for simulations: the stores in this folder do what those of #libs/db
 * do on PostgreSQL, each call at once and as a whole. `ledger-contract.int-spec.ts` holds both to the
 * same tests. Rows are values that are replaced, so a snapshot costs a copy of the maps.
 */
import { type CallEnd, type RowMacs, type StoredDelivery } from '#libs/db';
import {
  type Address,
  isFinal,
  type PartnerId,
  type PartnerStep,
  type PayoutPlace,
  type Redemption,
  SECONDS_PER_DAY,
  type UuidV7,
} from '#libs/domain';
import { type Clock } from '#libs/platform';

export interface Lease {
  readonly owner: string;
  readonly untilMs: number;
}

export interface LedgerRow {
  readonly redemption: Redemption;
  readonly place: PayoutPlace | null;
  readonly macs: RowMacs;
  readonly lease: Lease | null;
}

export interface TransitionRow {
  readonly version: number;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly actor: string;
  readonly requestId: UuidV7 | null;
}

export interface CallRow {
  readonly requestId: UuidV7;
  /** Null for a balance read. */
  readonly redemptionId: UuidV7 | null;
  readonly partner: PartnerId;
  readonly step: PartnerStep;
  readonly begunAtMs: number;
  readonly end: CallEnd | null;
}

export interface DeliveryRow extends StoredDelivery {
  readonly lease: Lease | null;
  readonly undeliveredAtMs: number | null;
}

export interface RestoreRow {
  readonly atMs: number;
  readonly lostSinceMs: number;
  readonly vouchersUntilSeconds: number;
}

export interface UnnotedRow {
  readonly atMs: number;
  readonly noticed: string;
  readonly missingAtMs: number | undefined;
}

/** Everything that a backup contains. */
export interface LedgerTables {
  redemptions: Map<UuidV7, LedgerRow>;
  transitions: Map<UuidV7, readonly TransitionRow[]>;
  calls: Map<UuidV7, CallRow>;
  deliveries: Map<UuidV7, DeliveryRow>;
  /** By wallet and key. */
  keys: Map<string, { readonly bodyHash: Buffer; readonly redemptionId: UuidV7 }>;
  waits: Map<Address, { readonly attempts: number; readonly untilMs: number }>;
  /** By chain, account and day. */
  coins: Map<string, bigint>;
  /** First blocks, by chain and vault. */
  vaults: Map<string, bigint>;
  restores: readonly RestoreRow[];
  /** By what was noticed. */
  unnoted: Map<string, UnnotedRow>;
}

const DAY_MS = SECONDS_PER_DAY * 1000;

export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

export class MemoryLedger {
  tables: LedgerTables = {
    redemptions: new Map(),
    transitions: new Map(),
    calls: new Map(),
    deliveries: new Map(),
    keys: new Map(),
    waits: new Map(),
    coins: new Map(),
    vaults: new Map(),
    restores: [],
    unnoted: new Map(),
  };
  /** Called with each hint (NOTIFY) that there may be work. */
  onHint: () => void = () => undefined;

  /** @param clock that of the database */
  constructor(readonly clock: Clock) {}

  get nowMs(): number {
    return this.clock.nowMs();
  }

  get isUnnoted(): boolean {
    return this.tables.unnoted.size > 0;
  }

  *redemptions(): Generator<Redemption> {
    for (const { redemption } of this.tables.redemptions.values()) yield redemption;
  }

  isFree(lease: Lease | null): boolean {
    return lease === null || lease.untilMs <= this.nowMs;
  }

  /** Tokens that may still be paid. */
  payableTokens(): bigint {
    return this.sum(
      ({ state, resume }) =>
        ['deducting', 'deducted', 'authorised'].includes(state) || resume === 'authorised',
    );
  }

  /** Tokens that count in the day of a partner. */
  partnerTokens(partner: PartnerId, atMs: number): bigint {
    return this.sum(
      (one) =>
        one.partner === partner &&
        dayOf(one.initialAtMs) === dayOf(atMs) &&
        !['created', 'reverted', 'failed'].includes(one.state),
    );
  }

  /** Tokens that count in the day of a wallet; a voucher that was not claimed counts as if it had been paid. */
  walletTokens(wallet: Address, atMs: number): bigint {
    return this.sum(
      (one) =>
        one.wallet === wallet &&
        dayOf(one.initialAtMs) === dayOf(atMs) &&
        one.state !== 'created' &&
        (!['reverted', 'failed'].includes(one.state) || one.authorisedAtMs !== null),
    );
  }

  lostVoucherUntil({ initialAtMs, authorisedAtMs }: Redemption): number | null {
    const lost = this.tables.restores.filter(
      ({ atMs, lostSinceMs }) =>
        initialAtMs < atMs && (authorisedAtMs === null || authorisedAtMs >= lostSinceMs),
    );
    return lost.length === 0
      ? null
      : Math.max(...lost.map(({ vouchersUntilSeconds }) => vouchersUntilSeconds));
  }

  /** Notes a restore: marks the redemptions concerned, and removes the mark of the restore. */
  note(restore: RestoreRow): void {
    const { tables } = this;
    tables.restores = [...tables.restores, restore];
    for (const [id, row] of tables.redemptions) {
      if (isFinal(row.redemption.state)) continue;
      const lostVoucherUntilSeconds = this.lostVoucherUntil(row.redemption);
      tables.redemptions.set(id, {
        ...row,
        redemption: { ...row.redemption, lostVoucherUntilSeconds },
      });
    }
    for (const [noticed, { missingAtMs }] of tables.unnoted) {
      if (missingAtMs === undefined || missingAtMs >= restore.lostSinceMs) {
        tables.unnoted.delete(noticed);
      }
    }
  }

  /** A backup of this moment. */
  snapshot(): LedgerTables {
    const { tables } = this;
    return {
      redemptions: new Map(tables.redemptions),
      transitions: new Map(tables.transitions),
      calls: new Map(tables.calls),
      deliveries: new Map(tables.deliveries),
      keys: new Map(tables.keys),
      waits: new Map(tables.waits),
      coins: new Map(tables.coins),
      vaults: new Map(tables.vaults),
      restores: tables.restores,
      unnoted: new Map(tables.unnoted),
    };
  }

  private sum(counts: (one: Redemption) => boolean): bigint {
    let tokens = 0n;
    for (const one of this.redemptions()) if (counts(one)) tokens += one.tokenAmount;
    return tokens;
  }
}
