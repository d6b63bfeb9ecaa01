import { randomBytes } from 'node:crypto';
import { type PoolClient } from 'pg';
import {
  type Address,
  type BalanceChange,
  type BalanceDay,
  type BlockRef,
  dayOf,
  SECONDS_PER_DAY,
  type WalletState,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { run } from '../connection/statement.js';
import { addressOf, hashOf, hexOf } from '../rows.js';
import { byWallet } from './by-wallet.js';
import { copyChanges, copyDays } from './copy-rows.js';
import { fingerprintOf, type IndexSettings, requireSameSettings } from './index-settings.js';
import {
  type IndexState,
  type IndexStateRow,
  indexStateOf,
  type InitialIndexState,
  initialValues,
} from './index-state.js';
import { FencedError, HeadMovedError, IndexMissingError } from './index-store.error.js';
import { MOVE_BACK, UNDO_CHANGES } from './rollback.statements.js';
import * as sql from './statements.js';
import { type WalletPage } from './wallet-page.js';

/** Shorter than the silence after which another may take the lead, longer than a live program leaves a transaction alone. */
const STALLED_MS = 5000;

/** What one range of blocks adds to the index. */
export interface IndexBatch {
  /** From `takeLead`. */
  readonly fence: bigint;
  /** The head that the batch builds on. */
  readonly previousHead: BlockRef;
  readonly head: BlockRef;
  /** All above `previousHead` and up to `head`, any order. */
  readonly changes: readonly BalanceChange[];
  /** One for each wallet and day that was touched, in its final state. */
  readonly days: readonly BalanceDay[];
  /** Those of them, left out above, that certainly have no row yet: they are written in a cheaper way. */
  readonly newDays?: readonly BalanceDay[];
  /** The sum of all balances after the batch. */
  readonly total: bigint;
  /** To remember, for finding a fork; those below the finalised block are left out. */
  readonly blocks: readonly BlockRef[];
  readonly finalised?: BlockRef;
  readonly verifiedNumber?: bigint;
  /** The index is level with the chain. */
  readonly synced?: boolean;
}

export interface Undone {
  readonly changes: number;
  readonly wallets: number;
  /** The sum of all balances after it. */
  readonly total: bigint;
}

export interface LeadOptions {
  /** What the index must have been made with; default: anything. */
  readonly settings?: IndexSettings;
  /** A transaction of an earlier leader that is older and waits for its program is ended, not waited for. */
  readonly stalledMs?: number;
}

/**
 * The index of staked balances as the indexer writes it. Every write is one transaction that holds the state's row, and is
 * refused where the caller no longer leads or the head is not the one it knows.
 */
export class IndexStore {
  constructor(private readonly database: Database) {}

  async state(): Promise<IndexState | undefined> {
    const [row] = await this.database.query<IndexStateRow>(sql.READ_STATE);
    return row && indexStateOf(row);
  }

  /** The index of this database: a new one, or the one that exists already, whatever its settings. */
  async create(initial: InitialIndexState): Promise<IndexState> {
    await this.database.query(sql.CREATE_STATE, initialValues(initial));
    const state = await this.state();
    if (state === undefined) throw new IndexMissingError();
    return state;
  }

  /**
   * The fence of the new leader; writes with an older one are refused from now on.
   * @throws SettingsChangedError where the index is of other settings, IndexMissingError; nobody is fenced out then
   */
  async takeLead({ settings, stalledMs = STALLED_MS }: LeadOptions = {}): Promise<bigint> {
    await this.database.query(sql.END_STALLED, [stalledMs]);
    const [row] = await this.database.query<{ fence: string }>(sql.TAKE_LEAD, [
      settings && fingerprintOf(settings),
    ]);
    if (row !== undefined) return BigInt(row.fence);
    const state = await this.state();
    if (state && settings) requireSameSettings(state, settings);
    throw new IndexMissingError();
  }

  /** Wallets without history are absent. */
  async walletStates(wallets: readonly Address[]): Promise<Map<Address, WalletState>> {
    const rows = await this.database.query<{
      wallet: string;
      balance: string;
      seconds: string;
      low: string | null;
    }>(sql.WALLET_STATES, [byteaArray(wallets)]);
    return new Map(
      rows.map((row) => [
        addressOf(row.wallet),
        {
          balance: BigInt(row.balance),
          sinceSeconds: Number(row.seconds),
          low: row.low === null ? null : BigInt(row.low),
        },
      ]),
    );
  }

  /** The balances at the end of a block, in the order of the wallets; 0 for a wallet without history. */
  async balancesAt(wallets: readonly Address[], number: bigint): Promise<bigint[]> {
    const rows = await this.database.query<{ balance: string }>(sql.BALANCES_AT, [
      byteaArray(wallets),
      number,
    ]);
    return rows.map(({ balance }) => BigInt(balance));
  }

  /** Up to `count` different wallets with history, picked at random. */
  async sampleWallets(count: number): Promise<Address[]> {
    const points = Array.from({ length: count }, () => randomBytes(20));
    const rows = await this.database.query<{ wallet: string | null }>(sql.SAMPLE_WALLETS, [points]);
    return rows.flatMap(({ wallet }) => (wallet === null ? [] : [addressOf(wallet)]));
  }

  /**
   * A page of the wallets whose balance changed in the blocks above `above` and up to `block`, in the order of their addresses.
   * @returns fewer than `limit` on the last page only
   */
  async changedWallets({
    above,
    block,
    after,
    limit,
  }: WalletPage & { readonly above: bigint }): Promise<Address[]> {
    const rows = await this.database.query<{ wallet: string }>(sql.CHANGED_WALLETS, [
      above,
      block,
      Buffer.from(after?.slice(2) ?? '', 'hex'),
      limit,
    ]);
    return rows.map(({ wallet }) => addressOf(wallet));
  }

  /** The remembered blocks from a number on, ascending. */
  async blocks(fromNumber: bigint): Promise<BlockRef[]> {
    const rows = await this.database.query<{ number: string; hash: string; seconds: string }>(
      sql.BLOCKS_FROM,
      [fromNumber],
    );
    return rows.map((row) => ({
      number: BigInt(row.number),
      hash: hashOf(row.hash),
      timestampSeconds: Number(row.seconds),
    }));
  }

  /**
   * Adds one range of blocks.
   * @throws FencedError, HeadMovedError, DatabaseRefusedError (rows that contradict the index), DatabaseUnavailableError;
   * nothing is written then, except that after a DatabaseUnavailableError it may have been: read the state
   */
  async commit(batch: IndexBatch): Promise<void> {
    await this.database.transaction(async (client) => {
      await this.lock(client, batch.fence, batch.previousHead);
      if (batch.changes.length > 0) await copyChanges(client, byWallet(batch.changes));
      const { days, newDays = [] } = batch;
      if (newDays.length > 0) await copyDays(client, byWallet(newDays));
      if (days.length > 0) await run(client, sql.UPSERT_DAYS, dayArrays(byWallet(days)));
      await run(client, sql.ADVANCE, advanceValues(batch));
    });
  }

  /**
   * Takes back everything above the block `to`; the days of the wallets concerned are worked out again.
   * @throws FencedError, HeadMovedError, DatabaseUnavailableError
   */
  async rollback(range: { fence: bigint; head: BlockRef; to: BlockRef }): Promise<Undone> {
    const { fence, head, to } = range;
    const day = dayOf(to.timestampSeconds);
    return this.database.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = '15min'`);
      await this.lock(client, fence, head);
      const undo = [to.number, day, day * SECONDS_PER_DAY];
      const [undone] = await run<Record<'changes' | 'wallets' | 'lost' | 'won', string>>(
        client,
        UNDO_CHANGES,
        undo,
      );
      if (undone === undefined) throw new IndexMissingError();
      const [state] = await run<{ total: string }>(client, MOVE_BACK, [
        to.number,
        hexOf(to.hash),
        to.timestampSeconds,
        BigInt(undone.won) - BigInt(undone.lost),
      ]);
      if (state === undefined) throw new IndexMissingError();
      return {
        changes: Number(undone.changes),
        wallets: Number(undone.wallets),
        total: BigInt(state.total),
      };
    });
  }

  /** Notes that indexing has stopped, and why, for whoever reads the state. @throws FencedError */
  async halt(fence: bigint, reason: string): Promise<void> {
    const rows = await this.database.query(sql.HALT, [fence, reason]);
    if (rows.length === 0) throw new FencedError();
  }

  /** @throws FencedError */
  async clearHalt(fence: bigint): Promise<void> {
    const rows = await this.database.query(sql.CLEAR_HALT, [fence]);
    if (rows.length === 0) throw new FencedError();
  }

  private async lock(client: PoolClient, fence: bigint, head: BlockRef): Promise<void> {
    const [row] = await run<Record<'fence' | 'head_number' | 'head_hash', string>>(
      client,
      sql.LOCK_STATE,
      [],
    );
    if (row === undefined) throw new IndexMissingError();
    if (BigInt(row.fence) !== fence) throw new FencedError();
    if (BigInt(row.head_number) !== head.number || hashOf(row.head_hash) !== head.hash) {
      throw new HeadMovedError(head);
    }
  }
}

function advanceValues(batch: IndexBatch): unknown[] {
  const { previousHead, head, finalised, blocks } = batch;
  return [
    batch.fence,
    previousHead.number,
    hexOf(previousHead.hash),
    head.number,
    hexOf(head.hash),
    head.timestampSeconds,
    batch.total,
    finalised?.number,
    finalised && hexOf(finalised.hash),
    finalised?.timestampSeconds,
    batch.verifiedNumber,
    batch.synced === true,
    blocks.map(({ number }) => number),
    blocks.map(({ hash }) => hexOf(hash)),
    blocks.map(({ timestampSeconds }) => timestampSeconds),
  ];
}

/** Arrays as PostgreSQL writes them: several times faster to build and to parse than the driver's quoted elements. */
function dayArrays(days: readonly BalanceDay[]): string[] {
  return [
    byteaArray(days.map(({ wallet }) => wallet)),
    `{${days.map(({ day }) => day).join(',')}}`,
    `{${days.map(({ low }) => low ?? 'NULL').join(',')}}`,
    `{${days.map(({ closing }) => closing).join(',')}}`,
  ];
}

function byteaArray(wallets: readonly Address[]): string {
  return `{${wallets.map((wallet) => `"\\\\x${wallet.slice(2)}"`).join(',')}}`;
}
