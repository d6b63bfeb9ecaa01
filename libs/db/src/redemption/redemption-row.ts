/**
 * Converts a redemption into a row of redemption.redemption and back: the SQL form of each field, and the
 * check of the row's MACs.
 */
import {
  evidenceContent,
  transactionIdsContent,
  type OpenCall,
  parseDecimal,
  type PayoutPlace,
  type Redemption,
} from '#libs/domain';
import { addressBytes, addressOf, decimalText } from '../connection/rows.js';
import { deadOf, evidenceJson, openCallJson, paidOf } from './evidence-json.js';
import { UnreadableRedemptionError } from './redemption.error.js';

/** Makes and verifies the MACs of rows, under EVIDENCE_KEY. */
export interface EvidenceSeal {
  mac(content: string): Buffer;
  verify(content: string, mac: Uint8Array | null): boolean;
}

export interface StoredRedemption {
  readonly redemption: Redemption;
  /** Set as soon as the redemption has a plan. */
  readonly place: PayoutPlace | null;
  /**
   * The row has a valid MAC; set only by a store that has the keys. Without a valid MAC nothing is
   * deducted, planned or signed.
   */
  readonly isSealed?: true;
  /**
   * The partner's transaction ids in the row have a valid MAC, or there are none. Otherwise no revert names them. Set
   * only by a store that has the keys.
   */
  readonly namesAreOurs?: true;
}

/** The conversion of a field that is not null to SQL and back. */
interface Codec {
  readonly write: (value: unknown) => unknown;
  readonly read: (value: unknown) => unknown;
}

function codec<T>(write: (value: T) => unknown, read: (value: never) => T): Codec {
  return { write: write as Codec['write'], read: read as Codec['read'] };
}

const PLAIN = codec<unknown>(
  (value) => value,
  (value) => value,
);
const MOMENT = codec<number>(
  (ms) => new Date(ms),
  (moment: Date) => moment.getTime(),
);
const INTEGER = codec<bigint>((value) => value, BigInt);
const DECIMAL = codec(decimalText, parseDecimal);
const ADDRESS = codec(addressBytes, addressOf);

/** Fields that are written once. The column of a field has the field's name in snake case. */
const TERMS = {
  id: PLAIN,
  partner: PLAIN,
  wallet: ADDRESS,
  points: INTEGER,
  usdAmount: DECIMAL,
  tokenAmount: INTEGER,
  tokenDecimals: PLAIN,
  priceUsd: DECIMAL,
  quoteExpiresAtMs: MOMENT,
  initialAtMs: MOMENT,
} satisfies Partial<Record<keyof Redemption, Codec>>;

/**
 * Fields that each transition writes. Plan and attempts are columns of their own, and only the database writes
 * the mark of a restore.
 */
const STATE: Record<
  Exclude<keyof Redemption, keyof typeof TERMS | 'plan' | 'attempts' | 'lostVoucherUntilSeconds'>,
  Codec
> = {
  state: PLAIN,
  version: PLAIN,
  reason: PLAIN,
  revertReason: PLAIN,
  resume: PLAIN,
  exposure: PLAIN,
  unprovenAttempts: PLAIN,
  openCall: codec<OpenCall>(openCallJson, (call: OpenCall) => call),
  partnerTransactionId: PLAIN,
  partnerRevertId: PLAIN,
  candidateTransactionIds: PLAIN,
  redemptionIdRefuted: PLAIN,
  deadEvidence: codec(evidenceJson, deadOf),
  paidEvidence: codec(evidenceJson, paidOf),
  firstDeductAtMs: MOMENT,
  lastDeductAtMs: MOMENT,
  firstRevertAtMs: MOMENT,
  firstNotFoundAtMs: MOMENT,
  nextActionAtMs: MOMENT,
  stateSinceMs: MOMENT,
  pendingAtMs: MOMENT,
  deductedAtMs: MOMENT,
  authorisedAtMs: MOMENT,
  claimedAtMs: MOMENT,
  revertedAtMs: MOMENT,
  failedAtMs: MOMENT,
};

/** For example `state_since_at` for `stateSinceMs`. */
function columnOf(field: string): string {
  const name = field.replace(/(At)?Ms$/, '_at');
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const PLAN_COLUMNS = ['plan_recipient', 'plan_amount', 'plan_deadline_seconds'];
const ATTEMPT_COLUMNS = ['deduct_attempts', 'payout_attempts', 'revert_attempts'];
const READ_ONLY = [
  ...['plan_vault', 'plan_chain_id', 'plan_from_block'],
  ...['evidence_mac', 'names_mac', 'lost_voucher_until_seconds'],
];
const ADDRESSES = ['wallet', 'plan_recipient', 'plan_vault'];

export const TERM_COLUMNS: readonly string[] = Object.keys(TERMS).map(columnOf);
export const STATE_COLUMNS: readonly string[] = [
  ...Object.keys(STATE).map(columnOf),
  ...PLAN_COLUMNS,
  ...ATTEMPT_COLUMNS,
];

/** The columns that `storedOf` reads, with `r` as alias of the table. */
export const READ_COLUMNS = [...TERM_COLUMNS, ...STATE_COLUMNS, ...READ_ONLY]
  .map((name) => (ADDRESSES.includes(name) ? `encode(r.${name}, 'hex') AS ${name}` : `r.${name}`))
  .join(', ');

export interface RedemptionRow extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly version: number;
  readonly deduct_attempts: number;
  readonly payout_attempts: number;
  readonly revert_attempts: number;
  readonly plan_recipient: string | null;
  readonly plan_amount: string | null;
  readonly plan_deadline_seconds: string | null;
  readonly plan_vault: string | null;
  readonly plan_chain_id: string | null;
  readonly plan_from_block: string | null;
  readonly lost_voucher_until_seconds: string | null;
  readonly evidence_mac: Buffer | null;
  readonly names_mac: Buffer | null;
}

type Values = Record<string, unknown>;

function written(fields: Readonly<Record<string, Codec>>, redemption: Redemption): Values {
  const of = redemption as unknown as Values;
  return Object.fromEntries(
    Object.entries(fields).map(([field, { write }]) => {
      const value = of[field];
      return [columnOf(field), value === null ? null : write(value)];
    }),
  );
}

/** Values by the names in TERM_COLUMNS. */
export function termValues(redemption: Redemption): Values {
  return written(TERMS, redemption);
}

/** Values by the names in STATE_COLUMNS. */
export function stateValues(redemption: Redemption): Values {
  const { plan, attempts } = redemption;
  return {
    ...written(STATE, redemption),
    plan_recipient: plan && addressBytes(plan.recipient),
    plan_amount: plan && plan.amount,
    plan_deadline_seconds: plan && plan.deadlineSeconds,
    deduct_attempts: attempts.deduct,
    payout_attempts: attempts.payout,
    revert_attempts: attempts.revert,
  };
}

function redemptionOf(row: RedemptionRow): Redemption {
  const fields = Object.entries({ ...TERMS, ...STATE }).map(([field, { read }]) => {
    const value = row[columnOf(field)];
    return [field, value === null ? null : read(value)];
  });
  const { lost_voucher_until_seconds: lostUntil } = row;
  const { plan_recipient: recipient, plan_amount: amount, plan_deadline_seconds: seconds } = row;
  const hasPlan = recipient !== null && amount !== null && seconds !== null;
  return {
    // TERMS and STATE have all fields of a redemption except the following three.
    ...(Object.fromEntries(fields) as Redemption),
    plan: hasPlan
      ? {
          recipient: addressOf(recipient),
          amount: BigInt(amount),
          deadlineSeconds: Number(seconds),
        }
      : null,
    attempts: {
      deduct: row.deduct_attempts,
      payout: row.payout_attempts,
      revert: row.revert_attempts,
    },
    lostVoucherUntilSeconds: lostUntil === null ? null : Number(lostUntil),
  };
}

function placeOf(row: RedemptionRow): PayoutPlace | null {
  const { plan_vault: vault, plan_chain_id: chainId, plan_from_block: fromBlock } = row;
  if (vault === null || chainId === null || fromBlock === null) return null;
  return { vault: addressOf(vault), chainId: Number(chainId), fromBlock: BigInt(fromBlock) };
}

/** The MACs of a row; null where it has none. */
export interface RowMacs {
  readonly evidence: Uint8Array | null;
  readonly names: Uint8Array | null;
}

/** The redemption of a row, with what its MACs prove. @param seal absent in a program without the keys */
export function verifiedRow(
  redemption: Redemption,
  place: PayoutPlace | null,
  macs: RowMacs,
  seal?: EvidenceSeal,
): StoredRedemption {
  if (seal === undefined) return { redemption, place };
  const content = evidenceContent(redemption, place);
  const isSealed = content !== undefined && seal.verify(content, macs.evidence);
  const names = transactionIdsContent(redemption);
  const namesAreOurs = names === undefined || seal.verify(names, macs.names);
  return {
    redemption,
    place,
    ...(isSealed && { isSealed }),
    ...(namesAreOurs && { namesAreOurs }),
  };
}

/** @throws UnreadableRedemptionError */
export function storedOf(row: RedemptionRow, seal?: EvidenceSeal): StoredRedemption {
  try {
    const macs = { evidence: row.evidence_mac, names: row.names_mac };
    return verifiedRow(redemptionOf(row), placeOf(row), macs, seal);
  } catch (error) {
    throw new UnreadableRedemptionError(row.id, error);
  }
}

export interface ReadRows {
  readonly found: StoredRedemption[];
  readonly unreadable: UnreadableRedemptionError[];
}

/** Reads each row by itself, so that an unreadable row does not affect the others. */
export function readRows(rows: readonly RedemptionRow[], seal?: EvidenceSeal): ReadRows {
  const read: ReadRows = { found: [], unreadable: [] };
  for (const row of rows) {
    try {
      read.found.push(storedOf(row, seal));
    } catch (error) {
      if (!(error instanceof UnreadableRedemptionError)) throw error;
      read.unreadable.push(error);
    }
  }
  return read;
}
