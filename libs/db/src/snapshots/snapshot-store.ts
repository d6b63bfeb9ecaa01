import { type Address, type DayBalance } from '#libs/domain';
import { named, type Statement } from '../connection/named.js';
import { type Database } from '../connection/database.js';
import { findingsOf } from '../index-store/finding-store.js';
import { type InitialIndexState } from '../index-store/index-state.js';
import { type Price } from '../prices/price.js';
import { addressBytes, addressOf, byteaArray, hashOf } from '../connection/rows.js';
import { type BalanceMoment } from './wallet-history-store.js';
import { windowDaysFrom, type WindowRow, type WindowSink } from './window-days.js';

/** The part of every answer that does not depend on the wallet: the state of the index, and the price. */
export interface SnapshotState extends Omit<InitialIndexState, 'fingerprint' | 'settings'> {
  /** Index version: changes whenever something indexed may have been taken back. */
  readonly generation: string;
  readonly finalisedSeconds: number | undefined;
  /** The last time at which the index was level with the chain. */
  readonly syncedAt: Date | undefined;
  readonly haltedReason: string | undefined;
  /** Wallets that a check has found to be wrong; `all` if only a sum is known to be. */
  readonly findings: ReadonlySet<Address> | 'all';
  /** The price that was read last, however old; absent while a price is held. */
  readonly price: Price | undefined;
}

export interface AskedWallet {
  readonly wallet: Address;
  /** Days since 1970-01-01 UTC, exclusive. */
  readonly endDay: number;
}

/** Whole days since 1970-01-01 UTC. */
export interface AskedDays {
  readonly firstDay: number;
  /** Exclusive. */
  readonly endDay: number;
}

export interface AskedHistory {
  readonly wallet: Address;
  /** Changes above this block are read. */
  readonly after: bigint;
  readonly limit: number;
}

/** A state of the index. Everything that was read with it belongs to this state. */
interface IndexRead {
  readonly state: SnapshotState;
}

export interface HistoryRead extends IndexRead {
  /** Oldest first; undefined where the wallet never staked. */
  readonly changes: readonly BalanceMoment[] | undefined;
}

/** Everything that an answer needs, as of one moment. */
export interface SnapshotRead extends IndexRead {
  /**
   * In the order asked: the wallet's newest 31 days with a change before `endDay`, newest first, as text for
   * `walletDaysFrom`. These days are enough for the longest window and the balance carried into it. Undefined where
   * the wallet never staked.
   */
  readonly daysTexts: readonly (string | undefined)[];
}

export interface WindowRead<S> extends IndexRead {
  readonly sink: S;
}

/** The state as one text, with `s` as alias of staking.index_state. An unchanged text need not be parsed again. */
const STATE_TEXT = `json_build_array(s.generation, s.head_number::text, encode(s.head_hash, 'hex'), s.head_seconds,
    s.finalised_seconds, s.synced_at, s.halted_reason, encode(s.stake_contract, 'hex'), encode(s.token_contract, 'hex'),
    s.token_symbol, s.token_decimals, s.chain_id,
    (SELECT json_agg(encode(wallet, 'hex') ORDER BY wallet) FROM staking.finding),
    (SELECT json_build_array(usd::text, observed_at, source) FROM staking.price
      WHERE NOT EXISTS (SELECT FROM staking.price_hold) ORDER BY read_at DESC LIMIT 1))::text`;

const READ_STATE = named<object>(
  'snapshot_state',
  `SELECT ${STATE_TEXT} AS state, NULL AS days FROM staking.index_state s`,
);

/**
 * Reads at most 31 entries of one index for a wallet, however many changes the wallet has. Checks whether the wallet
 * ever staked only where there are no entries.
 */
const daysOf = (wallet: string, endDay: string): string =>
  `coalesce((SELECT '[' || string_agg(
        '[' || day || ',' || coalesce('"' || low || '"', 'null') || ',"' || closing || '"]', ',' ORDER BY day DESC) || ']'
      FROM (SELECT day, low, closing FROM staking.balance_day
        WHERE wallet = ${wallet} AND day < ${endDay} ORDER BY day DESC LIMIT 31) AS newest),
      CASE WHEN EXISTS (SELECT FROM staking.balance_day WHERE wallet = ${wallet}) THEN '[]' END)`;

// Most reads are for one wallet. This statement takes a fifth less time for one wallet than the statement for several.
const READ_WALLET = named<{ wallet: Buffer; endDay: number }>(
  'snapshot',
  `SELECT ${STATE_TEXT} AS state, ${daysOf(':wallet', ':endDay')} AS days FROM staking.index_state s`,
);

// The selects around the parameters hide the number of wallets from the planner, which would
// otherwise plan each read again.
const READ_WALLETS = named<{ wallets: Buffer[]; endDays: number[] }>(
  'snapshots',
  `SELECT CASE WHEN place = 1 THEN ${STATE_TEXT} END AS state, ${daysOf('asked.wallet', 'asked.end_day')} AS days
    FROM staking.index_state s, unnest((SELECT :wallets::bytea[]), (SELECT :endDays::int[]))
      WITH ORDINALITY AS asked (wallet, end_day, place)
    ORDER BY place`,
);

/**
 * Wallets in a row of READ_WINDOW: few enough to send a row while the next wallets are read, many enough to make the
 * cost per wallet small.
 */
const WALLETS_A_ROW = 50;

/**
 * A row has many wallets, in columns that are lists of equal length. A row for each wallet, with a text of its days,
 * takes a third longer. Where no day of a wallet is found, the wallet has one entry without a day if it staked later,
 * and none if it never staked.
 */
const READ_WINDOW = named<{ wallets: Buffer } & AskedDays>(
  'snapshot_window',
  `SELECT piece, CASE WHEN piece = 0 THEN ${STATE_TEXT} END AS state, found.*
    FROM staking.index_state s,
      generate_series(0, (SELECT greatest(0, (cardinality(:wallets::bytea[]) - 1) / ${WALLETS_A_ROW}))) AS piece,
      LATERAL (
        SELECT array_agg(place)::text AS places, array_agg(day)::text AS days, array_agg(low)::text AS lows, array_agg(closing)::text AS closings
        FROM unnest((SELECT :wallets::bytea[])[piece * ${WALLETS_A_ROW} + 1 : (piece + 1) * ${WALLETS_A_ROW}])
          WITH ORDINALITY AS asked (wallet, place)
        LEFT JOIN LATERAL (
          SELECT day, low, closing FROM staking.balance_day
            WHERE wallet = asked.wallet AND day < (SELECT :endDay::int) AND day >= (SELECT :firstDay::int)
          UNION ALL
          (SELECT day, low, closing FROM staking.balance_day
            WHERE wallet = asked.wallet AND day < (SELECT :firstDay::int) ORDER BY day DESC LIMIT 1)
        ) AS d ON true
        WHERE day IS NOT NULL OR EXISTS (SELECT FROM staking.balance_day WHERE wallet = asked.wallet)) AS found`,
);

const READ_HISTORY = named<{ wallet: Buffer; after: string; limit: number }>(
  'snapshot_history',
  `SELECT ${STATE_TEXT} AS state, CASE WHEN EXISTS (SELECT FROM staking.balance_change WHERE wallet = :wallet) THEN
      (SELECT coalesce(json_agg(json_build_array(block::text, seconds, balance::text) ORDER BY block), '[]')::text
        FROM (SELECT block, seconds, balance FROM staking.balance_change
          WHERE wallet = :wallet AND block > :after ORDER BY block LIMIT :limit) AS page)
    END AS changes FROM staking.index_state s`,
);

/** One row for each wallet, in the order asked; a single row where no wallet is asked for. */
interface SnapshotRow {
  /** The state of the index, in the first row only. */
  state: string;
  days: string | null;
}

/** Reads everything that snapshots are made of. Reads of the same state return the same object. */
export class SnapshotStore {
  private last: { readonly text: string; readonly state: SnapshotState } | undefined;

  constructor(private readonly database: Database) {}

  /** The state that was read last. Only another read can tell whether it is still valid. */
  get seen(): SnapshotState | undefined {
    return this.last?.state;
  }

  /**
   * Reads by one statement, in one round trip, from one state of the index.
   * @returns undefined where there is no index yet
   */
  async read(asked: readonly AskedWallet[] = []): Promise<SnapshotRead | undefined> {
    const rows = await this.database.query<SnapshotRow>(statementFor(asked));
    const [first] = rows;
    if (first === undefined) return undefined;
    const daysTexts = asked.map((_, place) => rows[place]?.days ?? undefined);
    return { state: this.stateFrom(first.state), daysTexts };
  }

  /**
   * Like `read`, for one window of many different wallets. The sink gets the days piece by piece, in the order asked.
   * @param begin makes the sink, once the state is known
   */
  async readWindow<S extends WindowSink>(
    wallets: readonly Address[],
    days: AskedDays,
    begin: (state: SnapshotState) => S,
  ): Promise<WindowRead<S> | undefined> {
    let read: WindowRead<S> | undefined;
    const statement = READ_WINDOW({ wallets: byteaArray(wallets), ...days });
    await this.database.queryEach<WindowRow>(statement, (row) => {
      if (read === undefined) {
        const state = this.stateFrom(row.state ?? '');
        read = { state, sink: begin(state) };
      }
      const first = row.piece * WALLETS_A_ROW;
      const piece = wallets.slice(first, first + WALLETS_A_ROW);
      read.sink.add(piece, windowDaysFrom(piece, row));
    });
    return read;
  }

  /** Like `read`, for a page of a wallet's changes. */
  async readHistory({ wallet, after, limit }: AskedHistory): Promise<HistoryRead | undefined> {
    const bytes = addressBytes(wallet);
    const [row] = await this.database.query<{ state: string; changes: string | null }>(
      READ_HISTORY({ wallet: bytes, after: after.toString(), limit }),
    );
    if (row === undefined) return undefined;
    const changes = row.changes === null ? undefined : changesFrom(row.changes);
    return { state: this.stateFrom(row.state), changes };
  }

  private stateFrom(text: string): SnapshotState {
    if (this.last?.text !== text) this.last = { text, state: snapshotStateFrom(text) };
    return this.last.state;
  }
}

function statementFor(asked: readonly AskedWallet[]): Statement {
  const wallets = asked.map(({ wallet }) => addressBytes(wallet));
  const endDays = asked.map(({ endDay }) => endDay);
  const [wallet] = wallets;
  const [endDay] = endDays;
  if (wallet === undefined || endDay === undefined) return READ_STATE({});
  return asked.length === 1 ? READ_WALLET({ wallet, endDay }) : READ_WALLETS({ wallets, endDays });
}

function changesFrom(text: string): BalanceMoment[] {
  const changes = JSON.parse(text) as [block: string, seconds: number, balance: string][];
  return changes.map(([block, seconds, balance]) => ({
    block: BigInt(block),
    seconds,
    balance: BigInt(balance),
  }));
}

type StateColumns = [
  generation: string,
  headNumber: string,
  headHash: string,
  headSeconds: number,
  finalisedSeconds: number | null,
  syncedAt: string | null,
  haltedReason: string | null,
  stakeContract: string,
  tokenContract: string,
  tokenSymbol: string,
  tokenDecimals: number,
  chainId: number,
  findings: string[] | null,
  price: [usd: string, observedAt: string, source: string] | null,
];

/** @param text of STATE_TEXT */
function snapshotStateFrom(text: string): SnapshotState {
  const [generation, number, hash, timestampSeconds, finalisedSeconds, syncedAt, ...facts] =
    JSON.parse(text) as StateColumns;
  const [haltedReason, stakeContract, tokenContract, tokenSymbol, tokenDecimals, ...more] = facts;
  const [chainId, findings, price] = more;
  return {
    generation,
    head: { number: BigInt(number), hash: hashOf(hash), timestampSeconds },
    finalisedSeconds: finalisedSeconds ?? undefined,
    syncedAt: syncedAt === null ? undefined : new Date(syncedAt),
    haltedReason: haltedReason ?? undefined,
    findings: findingsOf((findings ?? []).map(addressOf)),
    chainId,
    stakeContract: addressOf(stakeContract),
    tokenContract: addressOf(tokenContract),
    tokenSymbol,
    tokenDecimals,
    price: price === null ? undefined : priceOf(price),
  };
}

function priceOf([usd, observedAt, source]: [string, string, string]): Price {
  return { usd, observedAt: new Date(observedAt), source };
}

/** The text of a wallet's days, as the database returns it and as caches keep it: short, with amounts as texts. */
const DAYS = /^\[(?:\[-?\d{1,7},(?:null|"\d{1,78}"),"\d{1,78}"\](?:,(?=\[)|(?=\]$)))*\]$/;

/**
 * Whether a text has the form that `SnapshotStore.read` returns. Texts from a cache need this check, because other
 * programs can write to the cache.
 */
export function isDaysText(text: string): boolean {
  return DAYS.test(text);
}

/** @param daysText as `SnapshotStore.read` returns it */
export function walletDaysFrom(daysText: string): DayBalance[] {
  const days = JSON.parse(daysText) as [day: number, low: string | null, closing: string][];
  return days.map(([day, low, closing]) => ({
    day,
    low: low === null ? null : BigInt(low),
    closing: BigInt(closing),
  }));
}
