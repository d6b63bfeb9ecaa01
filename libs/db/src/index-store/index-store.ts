/**
 * The index of staked balances: its state and the rows of its wallets. Reads the wallets' states for the fold. When a
 * batch of blocks is written, checks that these states still hold, and writes the rows by COPY, sorted by the keys of
 * their tables.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  type Address,
  type BalanceChange,
  type BalanceDay,
  type BlockRef,
  dayOf,
  type FoldedBlocks,
  type FoldedWallet,
  type WalletState,
} from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { DatabaseRefusedError } from '../connection/database.error.js';
import { named } from '../connection/named.js';
import { addressOf, arrayText, byteaArray, hexOf } from '../connection/rows.js';
import { clearHalt, halt, type LeadOptions, lockState, takeLead } from './index-lead.js';
import { IndexReader } from './index-reader.js';
import {
  IndexMissingError,
  type IndexState,
  type InitialIndexState,
  PartitionAwaitedError,
  requireSameSettings,
  WrongStateError,
} from './index-state.js';
import { recountTotal, rewind, rollBack, type RollbackResult } from './rollback.js';

/** The time limit of each statement of a rollback. */
export const ROLLBACK_WITHIN_MS = 15 * 60_000;

/** One range of blocks to add to the index. */
export interface IndexBatch {
  /** The fencing token from `takeLead`. */
  readonly fence: bigint;
  readonly previousHead: BlockRef;
  readonly head: BlockRef;
  /** All balance changes above `previousHead` and up to `head`. Absent: none. */
  readonly folded?: FoldedBlocks;
  /** Blocks to remember, for finding the fork of a reorganisation. Those below the finalised block are not stored. */
  readonly blocks: readonly BlockRef[];
  readonly finalised?: BlockRef;
  readonly verifiedNumber?: bigint;
  /** True where the index is level with the chain. */
  readonly synced?: boolean;
}

interface RollbackRange {
  readonly fence: bigint;
  readonly head: BlockRef;
  readonly to: BlockRef;
}

const CREATE_STATE = named<Record<string, unknown>>(
  'index_create',
  `INSERT INTO staking.index_state (fingerprint, settings, chain_id, stake_contract, token_contract, token_symbol,
      token_decimals, head_number, head_hash, head_seconds)
    VALUES (:fingerprint, :settings, :chainId, decode(:stakeContract, 'hex'), decode(:tokenContract, 'hex'), :tokenSymbol,
      :tokenDecimals, :number, decode(:hash, 'hex'), :seconds)
    ON CONFLICT DO NOTHING`,
);

/**
 * The last statement of every commit: moves the head, adds to the total, and remembers blocks. Those below the
 * finalised block are forgotten. A finalised block older than the stored one is ignored, because it comes from a node that is behind the others.
 */
const ADVANCE = named<Record<string, unknown>>(
  'index_advance',
  `WITH advanced AS (
      UPDATE staking.index_state SET
        head_number = :head, head_hash = decode(:headHash, 'hex'), head_seconds = :headSeconds, total = total + :totalDelta,
        finalised_number = CASE WHEN :final >= coalesce(finalised_number, :final) THEN :final ELSE finalised_number END,
        finalised_hash = CASE WHEN :final >= coalesce(finalised_number, :final) THEN decode(:finalHash, 'hex') ELSE finalised_hash END,
        finalised_seconds = CASE WHEN :final >= coalesce(finalised_number, :final) THEN :finalSeconds ELSE finalised_seconds END,
        verified_number = greatest(verified_number, :verified),
        synced_at = CASE WHEN :synced THEN now() ELSE synced_at END,
        updated_at = now()
      WHERE fence = :fence AND head_number = :previous AND head_hash = decode(:previousHash, 'hex')
      RETURNING finalised_number, total
    ), totals AS (
      INSERT INTO staking.day_total (day, total)
      SELECT day, total - :totalDelta + delta FROM unnest(:days::int[], :dayDeltas::numeric[]) AS d (day, delta), advanced
      ON CONFLICT (day) DO UPDATE SET total = excluded.total
    ), remembered AS (
      INSERT INTO staking.block (number, hash, seconds)
      SELECT number, decode(hash, 'hex'), seconds
      FROM unnest(:numbers::bigint[], :hashes::text[], :seconds::bigint[]) AS b (number, hash, seconds), advanced
      WHERE number >= coalesce(finalised_number, number)
      ON CONFLICT (number) DO UPDATE SET hash = excluded.hash, seconds = excluded.seconds
    ), forgotten AS (
      DELETE FROM staking.block USING advanced WHERE number < finalised_number
    )
    SELECT count(*)::int AS rows FROM advanced`,
);

/**
 * For a wallet whose newest change is before `fromDay`, the primary key of `balance_day` alone has the answer. In a
 * first sync this is true of nearly every wallet and halves the work. `CASE` avoids the partitions of `balance_change`
 * for such a wallet, where a join would read each of them.
 * The wallets are read in the order of the keys, so that an index page that several wallets share is still in memory.
 */
const WALLET_STATES = named<{ wallets: Buffer; fromDay: number }>(
  'index_wallet_states',
  `SELECT encode(w.wallet, 'hex') AS wallet, d.closing, d.low,
      coalesce(CASE WHEN d.day >= :fromDay THEN (SELECT seconds FROM staking.balance_change
        WHERE wallet = w.wallet ORDER BY block DESC LIMIT 1) END, (d.day + 1) * 86400::bigint - 1) AS seconds
    FROM (SELECT wallet FROM unnest(:wallets::bytea[]) AS u (wallet) ORDER BY wallet) AS w
    CROSS JOIN LATERAL (SELECT day, low, closing FROM staking.balance_day
      WHERE wallet = w.wallet ORDER BY day DESC LIMIT 1) AS d`,
);

type DayArrays = Record<'wallets' | 'days' | 'lows' | 'closings', Buffer>;

const UNNEST_DAYS =
  'unnest(:wallets::bytea[], :days::text::int[], :lows::text::numeric[], :closings::text::numeric[])';

/**
 * Finds a wallet whose newest day is not the one that is stated; the stated day of a wallet without history is null.
 * The newest day is at or above the stated one, so that the older partitions are not searched.
 */
const WRONG_STATE = named<DayArrays>(
  'index_wrong_state',
  `SELECT encode(w.wallet, 'hex') AS wallet, w.closing AS stated, d.closing AS stored
    FROM ${UNNEST_DAYS} AS w (wallet, day, low, closing)
    LEFT JOIN LATERAL (SELECT day, low, closing FROM staking.balance_day
      WHERE wallet = w.wallet AND day >= coalesce(w.day, 0) ORDER BY day DESC LIMIT 1) AS d ON true
    WHERE (d.day, d.low, d.closing) IS DISTINCT FROM (w.day, w.low, w.closing) LIMIT 1`,
);

const UPDATE_DAYS = named<DayArrays>(
  'index_days',
  `UPDATE staking.balance_day d SET low = n.low, closing = n.closing
    FROM ${UNNEST_DAYS} AS n (wallet, day, low, closing)
    WHERE d.wallet = n.wallet AND d.day = n.day`,
);

/** A batch as it is sent. */
interface CommitText extends Pick<IndexBatch, 'fence' | 'previousHead'> {
  readonly rows: RangeText | undefined;
  readonly advance: ReturnType<typeof ADVANCE>;
}

/**
 * The index of staked balances, for the indexer. Every write is one transaction that locks the state's row. It is
 * refused where the caller is not the leader or where the stored head is not the one that the caller knows.
 */
export class IndexStore extends IndexReader {
  /** The index of this database: a new one, or the existing one, whatever its settings. */
  async create({ head, settings, ...initial }: InitialIndexState): Promise<IndexState> {
    const values = {
      ...initial,
      settings: JSON.stringify(settings),
      stakeContract: hexOf(initial.stakeContract),
      tokenContract: hexOf(initial.tokenContract),
      number: head.number,
      hash: hexOf(head.hash),
      seconds: head.timestampSeconds,
    };
    await this.database.query(CREATE_STATE(values));
    const state = await this.state();
    if (state === undefined) throw new IndexMissingError();
    return state;
  }

  /**
   * Makes the caller the leader and returns its fencing token. Writes with an older token are refused from now on.
   * @throws SettingsChangedError where the index was made with other settings; IndexMissingError. In both cases the
   * present leader stays the leader.
   */
  async takeLead(options: LeadOptions = {}): Promise<bigint> {
    const fence = await takeLead(this.database, options);
    if (fence !== undefined) return fence;
    const { settings } = options;
    const state = await this.state();
    if (state && settings) requireSameSettings(state, settings);
    throw new IndexMissingError();
  }

  /** @see readWalletStates */
  walletStates(wallets: readonly Address[], fromDay: number): Promise<Map<Address, WalletState>> {
    return readWalletStates(this.database, wallets, fromDay);
  }

  /**
   * Adds one range of blocks.
   * @throws FencedError, StaleHeadError, WrongStateError, PartitionAwaitedError, DatabaseRefusedError (rows that contradict the index),
   * DatabaseUnavailableError. Nothing is written, except that after a DatabaseUnavailableError the batch may be
   * written: the caller has to read the state.
   */
  commit(batch: IndexBatch): Promise<void> {
    const { fence, previousHead, folded } = batch;
    const rows = folded && rangeText(folded);
    return this.write({ fence, previousHead, rows, advance: ADVANCE(advanceValues(batch)) });
  }

  /**
   * Takes back everything above the block `to` and recalculates the days of the wallets concerned.
   * @throws FencedError, StaleHeadError, DatabaseUnavailableError
   */
  rollback(range: RollbackRange): Promise<RollbackResult> {
    return this.takeBack(range, (client) => rollBack(client, range.to));
  }

  /**
   * Sets the sum of all balances to that of the rows, before a rewind that is to mend rows.
   * @throws FencedError, StaleHeadError, DatabaseUnavailableError
   */
  recountTotal(held: Omit<RollbackRange, 'to'>): Promise<void> {
    return this.takeBack(held, recountTotal);
  }

  /**
   * Takes back everything above the block `to`, be it final, because an operator decided so. Ends a halt.
   * @throws FencedError, StaleHeadError, DatabaseUnavailableError
   */
  rewind(range: RollbackRange): Promise<RollbackResult> {
    return this.takeBack(range, (client) => rewind(client, range.to));
  }

  /** Records for all readers of the state that indexing has stopped, and why. @throws FencedError */
  halt(fence: bigint, reason: string): Promise<void> {
    return halt(this.database, fence, reason);
  }

  /** @throws FencedError */
  clearHalt(fence: bigint): Promise<void> {
    return clearHalt(this.database, fence);
  }

  private async write({ fence, previousHead, rows, advance }: CommitText): Promise<void> {
    try {
      await this.database.transaction(async (client) => {
        await lockState(client, fence, previousHead);
        if (rows) await writeRange(client, rows);
        await client.query(advance);
      });
    } catch (error) {
      throw isBeyondPartition(error) ? new PartitionAwaitedError(error) : error;
    }
  }

  private takeBack<T>(
    { fence, head }: Omit<RollbackRange, 'to'>,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(async (client) => {
      await lockState(client, fence, head);
      return work(client);
    }, ROLLBACK_WITHIN_MS);
  }
}

/**
 * Whether a row violated the check that the newest partition has while it gets its bound; see schema/partitions.ts.
 */
function isBeyondPartition(error: unknown): boolean {
  if (!(error instanceof DatabaseRefusedError)) return false;
  return (error.cause as { constraint?: unknown }).constraint === 'below_next';
}

function advanceValues(batch: IndexBatch): Record<string, unknown> {
  const { fence, folded, previousHead, head, finalised, blocks } = batch;
  return {
    fence,
    totalDelta: folded?.totalDelta ?? 0n,
    days: [...(folded?.dayDeltas.keys() ?? [])],
    dayDeltas: [...(folded?.dayDeltas.values() ?? [])],
    previous: previousHead.number,
    previousHash: hexOf(previousHead.hash),
    head: head.number,
    headHash: hexOf(head.hash),
    headSeconds: head.timestampSeconds,
    final: finalised?.number ?? null,
    finalHash: finalised ? hexOf(finalised.hash) : null,
    finalSeconds: finalised?.timestampSeconds ?? null,
    verified: batch.verifiedNumber ?? null,
    synced: batch.synced === true,
    numbers: blocks.map(({ number }) => number),
    hashes: blocks.map(({ hash }) => hexOf(hash)),
    seconds: blocks.map(({ timestampSeconds }) => timestampSeconds),
  };
}

/**
 * The state of wallets that is necessary to apply changes of the day `fromDay` and later. Wallets without history are
 * absent. Where the newest change is before `fromDay`, `sinceSeconds` is the last second of the day of this change.
 */
async function readWalletStates(
  database: Database,
  wallets: readonly Address[],
  fromDay: number,
): Promise<Map<Address, WalletState>> {
  type Row = Record<'wallet' | 'closing' | 'seconds', string> & { low: string | null };
  const rows = await database.query<Row>(WALLET_STATES({ wallets: byteaArray(wallets), fromDay }));
  return new Map(
    rows.map(({ wallet, closing, seconds, low }) => [
      addressOf(wallet),
      {
        balance: BigInt(closing),
        sinceSeconds: Number(seconds),
        low: low === null ? null : BigInt(low),
      },
    ]),
  );
}

/** The rows of a range as they are sent. While the database works, the objects that they were made of can be collected. */
interface RangeText {
  /** The states from which the rows were computed. */
  readonly stated: DayArrays | undefined;
  readonly changes: readonly Buffer[];
  /** Days that have no row yet. */
  readonly added: readonly Buffer[];
  /** Days that have a row. */
  readonly known: DayArrays | undefined;
}

function rangeText({ wallets, changes, days }: FoldedBlocks): RangeText {
  const [known, added]: [BalanceDay[], BalanceDay[]] = [[], []];
  for (const day of byWallet(days)) (day.hasRow ? known : added).push(day);
  return {
    stated: dayArrays(byWallet([...wallets.values()]).map(statedDay)),
    changes: changesText(byWallet(changes)),
    added: daysText(added),
    known: dayArrays(known),
  };
}

/**
 * Writes the changes and days of a range, if they were computed from the wallets' newest stored days.
 * @throws WrongStateError
 */
async function writeRange(
  client: PoolClient,
  { stated, changes, added, known }: RangeText,
): Promise<void> {
  if (stated) await requireStates(client, stated);
  await copy(client, CHANGES, changes);
  await copy(client, DAYS, added);
  if (known) await client.query(UPDATE_DAYS(known));
}

/** @throws WrongStateError */
async function requireStates(client: PoolClient, stated: DayArrays): Promise<void> {
  type Row = { wallet: string; stated: string | null; stored: string | null };
  const [row] = await run<Row>(client, WRONG_STATE(stated));
  if (row !== undefined) throw new WrongStateError(addressOf(row.wallet), row.stated, row.stored);
}

/** The day of the wallet's newest change before the range, which has a row. */
function statedDay({ wallet, before }: FoldedWallet): StatedDay {
  const day = before && dayOf(before.sinceSeconds);
  return { wallet, day, low: before?.low, closing: before?.balance };
}

interface StatedDay {
  readonly wallet: Address;
  readonly day: number | undefined;
  readonly low: bigint | null | undefined;
  readonly closing: bigint | undefined;
}

/** Undefined for no days. */
function dayArrays(days: readonly StatedDay[]): DayArrays | undefined {
  if (days.length === 0) return undefined;
  return {
    wallets: byteaArray(days.map(({ wallet }) => wallet)),
    days: arrayText(days, ({ day }) => day?.toString() ?? null),
    lows: arrayText(days, ({ low }) => low?.toString() ?? null),
    closings: arrayText(days, ({ closing }) => closing?.toString() ?? null),
  };
}

const CHANGES = 'staking.balance_change (wallet, block, seconds, balance)';
const DAYS = 'staking.balance_day (wallet, day, low, closing)';
/** Rows in one chunk of text, some 50 KiB. The text of a chunk five times as large costs four times as much for each row. */
const ROWS_PER_CHUNK = 500;

export function copyChanges(client: PoolClient, changes: readonly BalanceChange[]): Promise<void> {
  return copy(client, CHANGES, changesText(changes));
}

/** Writes days that have no row yet, at a quarter of the cost of an upsert. */
export function copyDays(client: PoolClient, days: readonly BalanceDay[]): Promise<void> {
  return copy(client, DAYS, daysText(days));
}

function changesText(changes: readonly BalanceChange[]): Buffer[] {
  return chunks(
    changes,
    ({ wallet, blockNumber, timestampSeconds, balance }) =>
      `\\\\x${wallet.slice(2)}\t${Number(blockNumber)}\t${timestampSeconds}\t${balance.toString()}\n`,
  );
}

function daysText(days: readonly BalanceDay[]): Buffer[] {
  return chunks(
    days,
    ({ wallet, day, low, closing }) =>
      `\\\\x${wallet.slice(2)}\t${day}\t${low === null ? '\\N' : low.toString()}\t${closing.toString()}\n`,
  );
}

async function copy(client: PoolClient, into: string, text: readonly Buffer[]): Promise<void> {
  if (text.length === 0) return;
  const stream = client.query(copyFrom(`COPY ${into} FROM STDIN`));
  await pipeline(Readable.from(text), stream);
}

function chunks<T>(rows: readonly T[], lineOf: (row: T) => string): Buffer[] {
  const all: Buffer[] = [];
  for (let start = 0; start < rows.length; start += ROWS_PER_CHUNK) {
    let text = '';
    const end = Math.min(start + ROWS_PER_CHUNK, rows.length);
    for (let place = start; place < end; place += 1) text += lineOf(rows[place] as T);
    all.push(Buffer.from(text, 'latin1'));
  }
  return all;
}

/** Hex digits of an address by which rows are sorted, and the number of their values. */
const SORTED_HEX_DIGITS = 3;
const BUCKETS = 16 ** SORTED_HEX_DIGITS;

/**
 * Rows in nearly the order of the tables' keys, by a counting sort. PostgreSQL then finds each page of the index once
 * instead of once per row, which saves a third of the time to write the rows.
 */
export function byWallet<T extends { readonly wallet: Address }>(rows: readonly T[]): T[] {
  const places = new Uint32Array(BUCKETS + 1);
  const take = (bucket: number): number => {
    const place = places[bucket] ?? 0;
    places[bucket] = place + 1;
    return place;
  };
  for (const { wallet } of rows) take(bucketOf(wallet) + 1);
  for (let bucket = 1; bucket < BUCKETS; bucket += 1)
    places[bucket] = (places[bucket] ?? 0) + (places[bucket - 1] ?? 0);
  const sorted = new Array<T>(rows.length);
  for (const row of rows) sorted[take(bucketOf(row.wallet))] = row;
  return sorted;
}

/** The value of the first digits. */
function bucketOf(wallet: Address): number {
  let bucket = 0;
  for (let at = 2; at < 2 + SORTED_HEX_DIGITS; at += 1) {
    const code = wallet.charCodeAt(at);
    bucket = bucket * 16 + (code < 58 ? code - 48 : code - 87);
  }
  return bucket;
}
