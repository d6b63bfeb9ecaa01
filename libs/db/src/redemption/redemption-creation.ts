/**
 * Creates redemptions within the limits of partner and wallet, once per idempotency key. Also makes wallets wait after
 * attempts that came to nothing, and deletes the rows of old attempts.
 */
import { type PoolClient } from 'pg';
import {
  type Address,
  COOL_DOWN_MEMORY_DAYS,
  evidenceContent,
  mintUuidV7,
  type PartnerId,
  recordBreach,
  type Redemption,
  type RedemptionLimits,
  SECONDS_PER_DAY,
  UUID_V7_RANDOM_BYTES,
  type WalletRecord,
} from '#libs/domain';
import { isRefusal } from '../connection/database.error.js';
import { type Database, run } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { addressBytes } from '../connection/rows.js';
import { HINT_CHANNEL } from './redemption-hints.js';
import {
  type EvidenceSeal,
  READ_COLUMNS,
  type RedemptionRow,
  STATE_COLUMNS,
  stateValues,
  storedOf,
  TERM_COLUMNS,
  termValues,
} from './redemption-row.js';
import {
  IdempotencyConflictError,
  LimitBreachedError,
  RedemptionBusyError,
} from './redemption.error.js';
import { unnotedRestore } from './transition-write.js';

export interface IdempotencyKey {
  /** Unique within the wallet; 1 to 255 characters. */
  readonly key: string;
  /** SHA-256 of the request body. */
  readonly bodyHash: Buffer;
}

const DAY_MS = SECONDS_PER_DAY * 1000;

/** Creations of one wallet happen one after the other. The wait is short, because the user waits for the answer. */
const LOCK_WALLET = named<{ wallet: Address }>(
  'redemption_lock_wallet',
  `SELECT set_config('lock_timeout', '2s', true), pg_advisory_xact_lock(4217, hashtext(:wallet))`,
);

const REPLAYED = named<{ wallet: Buffer; key: string }>(
  'redemption_replayed',
  `SELECT k.body_hash, ${READ_COLUMNS}
    FROM redemption.idempotency_key k JOIN redemption.redemption r ON r.id = k.redemption_id
    WHERE k.wallet = :wallet AND k.key = :key`,
);

interface DayOfWallet {
  readonly wallet: Buffer;
  /** The UTC day: from `day` inclusive to `dayEnd` exclusive. */
  readonly day: Date;
  readonly dayEnd: Date;
}

/** A redemption in state `created` counts as open, but not in the budgets. */
const USAGE = named<DayOfWallet & { partner: PartnerId }>(
  'redemption_usage',
  `SELECT o.open, o.open_id,
    redemption.reserved_tokens(redemption.budget_subject(:partner, :day)) AS partner_tokens,
    (SELECT coalesce(sum(token_amount), 0) FROM redemption.redemption
      WHERE wallet = :wallet AND initial_at >= :day AND initial_at < :dayEnd
        AND state NOT IN ('created', 'reverted', 'failed')) AS wallet_tokens
    FROM (SELECT count(*)::int AS open, min(id::text) AS open_id FROM redemption.redemption
      WHERE wallet = :wallet AND partner = :partner AND state NOT IN ('claimed', 'reverted', 'failed')) AS o`,
);

/**
 * Vouchers of the wallet that can never be claimed. `tokens_today` is the sum of those that began on the day and count
 * in no other sum. Ids of version 7 sort by time, so the condition on `id` can use the index of a wallet's redemptions.
 */
const UNCLAIMED = named<DayOfWallet & { firstId: string }>(
  'redemption_unclaimed',
  `SELECT count(*)::int AS count, max(coalesce(reverted_at, failed_at, state_since_at)) AS last_ended_at,
      coalesce(sum(token_amount) FILTER (WHERE state IN ('reverted', 'failed')
        AND initial_at >= :day AND initial_at < :dayEnd), 0)::text AS tokens_today
    FROM redemption.redemption
    WHERE wallet = :wallet AND id >= :firstId::uuid AND authorised_at IS NOT NULL
      AND (state IN ('reverted', 'failed') OR dead_evidence IS NOT NULL)`,
);

const COLUMNS = ['evidence_mac', ...TERM_COLUMNS, ...STATE_COLUMNS];

const CREATE = named<Record<string, unknown>>(
  'redemption_create',
  `WITH created AS (
      INSERT INTO redemption.redemption (${COLUMNS.join(', ')})
      VALUES (${COLUMNS.map((name) => `:${name}`).join(', ')}) RETURNING id, wallet, state, version
    ), keyed AS (
      INSERT INTO redemption.idempotency_key (wallet, key, body_hash, redemption_id)
      SELECT wallet, :key, :bodyHash, id FROM created
    ), noted AS (
      INSERT INTO redemption.transition (redemption_id, version, event, to_state, actor)
      SELECT id, version, 'create', state, 'user' FROM created
    )
    SELECT pg_notify('${HINT_CHANNEL}', '') FROM created`,
);

interface ReplayRow extends RedemptionRow {
  readonly body_hash: Buffer;
}

interface UsageRow {
  readonly open: number;
  readonly open_id: string | null;
  readonly partner_tokens: string;
  readonly wallet_tokens: string;
}

interface UnclaimedRow {
  readonly count: number;
  readonly last_ended_at: Date | null;
  readonly tokens_today: string;
}

/** Holds the wallet's lock. @see RedemptionStore.create */
export async function createRedemption(
  database: Database,
  redemption: Redemption,
  idempotency: IdempotencyKey,
  { limits, seal }: { readonly limits: RedemptionLimits; readonly seal: EvidenceSeal | undefined },
): Promise<{ readonly redemption: Redemption; readonly isNew: boolean }> {
  const content = evidenceContent(redemption, null);
  const created = database.transaction(async (client) => {
    await run(client, LOCK_WALLET({ wallet: redemption.wallet }));
    const wallet = addressBytes(redemption.wallet);
    const rows = await run<ReplayRow>(client, REPLAYED({ wallet, key: idempotency.key }));
    const before = replayOf(rows, idempotency);
    if (before !== undefined) return { redemption: before, isNew: false };
    await refuseBreach(client, redemption, limits);
    const values = {
      ...termValues(redemption),
      ...stateValues(redemption),
      ...idempotency,
      evidence_mac: content === undefined ? null : (seal?.mac(content) ?? null),
    };
    await run(client, CREATE(values));
    return { redemption, isNew: true };
  });
  return created.catch((error: unknown) => {
    if (isRefusal(error, 'lock_not_available')) throw new RedemptionBusyError();
    throw unnotedRestore(error) ?? error;
  });
}

/** The redemption that this key created before. @throws IdempotencyConflictError */
export async function replayedRedemption(
  database: Database,
  wallet: Address,
  idempotency: IdempotencyKey,
): Promise<Redemption | undefined> {
  const ask = { wallet: addressBytes(wallet), key: idempotency.key };
  return replayOf(await database.query<ReplayRow>(REPLAYED(ask)), idempotency);
}

function replayOf(rows: readonly ReplayRow[], { bodyHash }: IdempotencyKey) {
  const [row] = rows;
  if (row === undefined) return undefined;
  if (!row.body_hash.equals(bodyHash)) throw new IdempotencyConflictError();
  return storedOf(row).redemption;
}

/** @throws LimitBreachedError where the wallet has to wait, or where today's redemptions leave no room for this one */
async function refuseBreach(
  client: PoolClient,
  redemption: Redemption,
  limits: RedemptionLimits,
): Promise<void> {
  const { initialAtMs } = redemption;
  const record = await walletRecord((statement) => run(client, statement), redemption, initialAtMs);
  const breach = recordBreach(redemption, limits, record, initialAtMs);
  if (breach !== undefined) throw new LimitBreachedError(breach);
}

/**
 * Open redemptions, tokens of the day and unclaimed vouchers of a wallet. Outside of a creation this reserves nothing
 * and may change at any moment.
 */
export async function walletRecord(
  query: <R extends object>(statement: Statement) => Promise<R[]>,
  { partner, wallet: address }: { readonly partner: PartnerId; readonly wallet: Address },
  atMs: number,
): Promise<WalletRecord> {
  const dayMs = Math.floor(atMs / DAY_MS) * DAY_MS;
  const sinceMs = Math.max(0, atMs - COOL_DOWN_MEMORY_DAYS * DAY_MS);
  const wallet = addressBytes(address);
  const ofDay = { wallet, day: new Date(dayMs), dayEnd: new Date(dayMs + DAY_MS) };
  const firstId = mintUuidV7(sinceMs, new Uint8Array(UUID_V7_RANDOM_BYTES));
  const [row] = await query<UnclaimedRow>(UNCLAIMED({ ...ofDay, firstId }));
  const [used] = await query<UsageRow>(USAGE({ ...ofDay, partner }));
  return {
    unclaimed: { count: row?.count ?? 0, lastEndedAtMs: row?.last_ended_at?.getTime() },
    usage: {
      open: used?.open ?? 0,
      openId: used?.open_id ?? undefined,
      partnerTokensToday: BigInt(used?.partner_tokens ?? 0),
      walletTokensToday: BigInt(used?.wallet_tokens ?? 0) + BigInt(row?.tokens_today ?? 0),
    },
  };
}

/** Wait after the first vain attempt of a wallet. Each further attempt doubles the wait, up to the longest one. */
const FIRST_WAIT_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 3600;
/** Counted from the end of a wait; afterwards the wallet starts again. */
const MEMORY_MS = 86_400_000;

/** Retention of redemptions that never began, with their idempotency keys. The database refuses less than a day. */
const FAILED_KEPT_MS = 2 * 86_400_000;
/** The log keeps this number of the newest balance reads of each partner, and none older than READS_KEPT_MS. */
const READS_KEPT = 10_000;
const READS_KEPT_MS = 86_400_000;
const FORGOTTEN_AT_ONCE = 2_000;

/** Attempts before `since` are forgotten. All attempts during one wait count as one. */
const NOTE = named<{ wallet: Buffer; now: Date; since: Date }>(
  'attempt_note',
  `INSERT INTO redemption.vain_attempt AS v (wallet, attempts, wait_until)
      VALUES (:wallet, 1, :now::timestamptz + least(${FIRST_WAIT_SECONDS}, ${LONGEST_WAIT_SECONDS}) * interval '1 second')
    ON CONFLICT (wallet) DO UPDATE SET
      attempts = CASE WHEN v.wait_until > :now THEN v.attempts WHEN v.wait_until < :since THEN 1 ELSE v.attempts + 1 END,
      wait_until = CASE WHEN v.wait_until > :now THEN v.wait_until
        WHEN v.wait_until < :since THEN excluded.wait_until
        ELSE :now::timestamptz + least(${FIRST_WAIT_SECONDS} * 2.0 ^ least(v.attempts, 30), ${LONGEST_WAIT_SECONDS}) * interval '1 second' END
    RETURNING wait_until`,
);
const WAITS = named<{ wallet: Buffer; now: Date }>(
  'attempt_waits',
  'SELECT wait_until FROM redemption.vain_attempt WHERE wallet = :wallet AND wait_until > :now',
);
const FORGET_WAITS = named<{ before: Date }>(
  'attempt_forget_waits',
  'DELETE FROM redemption.vain_attempt WHERE wait_until < :before',
);
const FORGET = named<{ failedBefore: Date; readsBefore: Date }>(
  'attempt_forget',
  `SELECT redemption.forget_attempts(:failedBefore, :readsBefore, ${READS_KEPT}, ${FORGOTTEN_AT_ONCE}) AS gone`,
);

interface WaitRow {
  wait_until: Date;
}

/** Attempts to redeem that came to nothing: sets the waits of wallets and limits the rows that such attempts leave. */
export class AttemptStore {
  constructor(private readonly database: Database) {}

  /** Records a vain attempt. @returns Unix time in milliseconds until which the wallet waits */
  async note(wallet: Address, nowMs: number): Promise<number> {
    const now = new Date(nowMs);
    const since = new Date(nowMs - MEMORY_MS);
    const rows = await this.database.query<WaitRow>(
      NOTE({ wallet: addressBytes(wallet), now, since }),
    );
    return rows[0]?.wait_until.getTime() ?? nowMs;
  }

  /** Unix time in milliseconds until which the wallet waits; undefined where it does not wait. */
  async waitsUntilMs(wallet: Address, nowMs: number): Promise<number | undefined> {
    const statement = WAITS({ wallet: addressBytes(wallet), now: new Date(nowMs) });
    const [row] = await this.database.query<WaitRow>(statement);
    return row?.wait_until.getTime();
  }

  /** Deletes old waits, old redemptions that never began, and balance reads that are too old or too many. */
  async forgetOld(nowMs: number): Promise<void> {
    await this.database.query(FORGET_WAITS({ before: new Date(nowMs - MEMORY_MS) }));
    const failedBefore = new Date(nowMs - FAILED_KEPT_MS);
    const readsBefore = new Date(nowMs - READS_KEPT_MS);
    for (let gone = 1; gone > 0;) {
      const statement = FORGET({ failedBefore, readsBefore });
      const [row] = await this.database.query<{ gone: number }>(statement);
      gone = row?.gone ?? 0;
    }
  }
}
