/**
 * A large index, made by the database itself: no program sends a row. Its keys are dropped before and made again after, so that a
 * hundred million changes take minutes.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { createDatabase, IndexStore } from '#libs/db';
import {
  type Address,
  type BalanceChange,
  type BalanceDay,
  type BlockHash,
  type BlockRef,
  dayOf,
  parseAddress,
} from '#libs/domain';
import { say } from '../support/progress.js';

/** Of each quiet wallet, evenly over the history. */
export const CHANGES_PER_WALLET = 20;
export const CHANGES_PER_BLOCK = 10;
const HISTORY_DAYS = 1400;
const FIRST_SECONDS = 1_640_995_200;
/** Odd, and of no divisor in common with a number of wallets that is made of 2s and 5s: each turn meets each wallet once. */
const STRIDE = 2_654_435_761n;

/** A history in which change number k belongs to block k / 10, and the wallets take turns in an order that jumps about the keys. */
export class LargeHistory {
  readonly wallets: number;

  /** @param changes a multiple of 200 made of 2s and 5s, as 1,000,000 is */
  constructor(readonly changes: number) {
    this.wallets = changes / CHANGES_PER_WALLET;
  }

  get blocks(): number {
    return this.changes / CHANGES_PER_BLOCK;
  }

  get secondsPerBlock(): number {
    return Math.max(1, Math.floor((HISTORY_DAYS * 86_400) / this.blocks));
  }

  /** @param number 1 and more; those above `changes` go on where the history ends */
  change(number: number): BalanceChange {
    const block = Math.ceil(number / CHANGES_PER_BLOCK);
    return {
      wallet: walletOf(Number((BigInt(number) * STRIDE) % BigInt(this.wallets))),
      blockNumber: BigInt(block),
      timestampSeconds: this.secondsOf(block),
      balance: balanceOf(number),
    };
  }

  /** The day of that change: the wallet's last change is a turn ago. */
  day(number: number): BalanceDay {
    const { wallet, timestampSeconds, balance } = this.change(number);
    const before = number > this.wallets ? balanceOf(number - this.wallets) : 0n;
    return { wallet, day: dayOf(timestampSeconds), low: before, closing: balance };
  }

  blockRef(number: number): BlockRef {
    const hash = `0x${number.toString(16).padStart(64, '0')}` as BlockHash;
    return { number: BigInt(number), hash, timestampSeconds: this.secondsOf(number) };
  }

  private async fill(url: string, what: string, statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(
        `SET session_replication_role = replica; SET maintenance_work_mem = '1GB'`,
      );
      for (const statement of statements) {
        const startMs = performance.now();
        await client.query(statement);
        const seconds = Math.round((performance.now() - startMs) / 1000);
        say(`  ${what}: ${statement.trim().slice(0, 40)} …, ${seconds} s`);
      }
    } finally {
      await client.end();
    }
  }

  /** How many wallets a run of that many changes touches. */
  walletsOf(changes: number): number {
    return Math.min(changes, this.wallets);
  }

  private secondsOf(block: number): number {
    return FIRST_SECONDS + block * this.secondsPerBlock;
  }

  /** Fills an empty, migrated database. */
  async seed(url: string, client: pg.Client): Promise<void> {
    const database = await createDatabase({ url, applicationName: 'bench', poolSize: 1 });
    try {
      await new IndexStore(database).create({ ...FACTS, head: this.blockRef(0) });
    } finally {
      await database.close();
    }
    const { changes, wallets, secondsPerBlock } = this;
    const numbers = `generate_series(1::bigint, ${changes}) AS k,
      LATERAL (SELECT (k + ${CHANGES_PER_BLOCK - 1}) / ${CHANGES_PER_BLOCK} AS block) AS b,
      LATERAL (SELECT substring(sha256((((k * ${STRIDE}) % ${wallets}))::text::bytea) FROM 1 FOR 20) AS wallet,
        ${FIRST_SECONDS} + block * ${secondsPerBlock} AS seconds) AS w`;
    // Each table by a connection of its own. The guards are for programs that write: this is checked once, when the keys are made.
    await Promise.all([
      this.fill(url, 'changes', [
        'ALTER TABLE staking.balance_change DROP CONSTRAINT balance_change_pkey',
        'DROP INDEX staking.balance_change_block',
        `INSERT INTO staking.balance_change (wallet, block, seconds, balance)
          SELECT wallet, block, seconds, ${balanceSql('k')} FROM ${numbers}`,
        'ALTER TABLE staking.balance_change ADD PRIMARY KEY (wallet, block)',
        `CREATE INDEX balance_change_block ON staking.balance_change USING brin (block)
          WITH (pages_per_range = 32, autosummarize = on)`,
      ]),
      this.fill(url, 'days', [
        'ALTER TABLE staking.balance_day DROP CONSTRAINT balance_day_pkey',
        `INSERT INTO staking.balance_day (wallet, day, low, closing)
          SELECT wallet, seconds / 86400, CASE WHEN k > ${wallets} THEN ${balanceSql(`(k - ${wallets})`)} ELSE 0 END,
            ${balanceSql('k')} FROM ${numbers}`,
        'ALTER TABLE staking.balance_day ADD PRIMARY KEY (wallet, day) INCLUDE (low, closing)',
      ]),
    ]);
    const { number, hash, timestampSeconds } = this.blockRef(this.blocks);
    await client.query(
      `UPDATE staking.index_state SET head_number = $1, head_hash = decode($2, 'hex'), head_seconds = $3, synced_at = now()`,
      [number, hash.slice(2), timestampSeconds],
    );
  }
}

/** The wallet of that place, spread over the address space as real ones are. */
export function walletOf(place: number): Address {
  const digest = createHash('sha256').update(`${place}`).digest('hex');
  const wallet = parseAddress(`0x${digest.slice(0, 40)}`);
  if (!wallet) throw new Error('40 hex digits are an address');
  return wallet;
}

/** Of change number k: some thousand tokens with a fraction. In SQL: `balanceSql`. */
function balanceOf(number: number): bigint {
  const tokens = BigInt((number * 7919) % 100_003) * 10n ** 18n;
  return tokens + BigInt(number) * 1_000_003n;
}

function balanceSql(number: string): string {
  return `(((${number} * 7919) % 100003)::numeric * 1000000000000000000 + ${number}::numeric * 1000003)`;
}

const FACTS = {
  fingerprint: 'bench',
  settings: {},
  chainId: 1,
  stakeContract: walletOf(-1),
  tokenContract: walletOf(-2),
  tokenSymbol: 'LOW',
  tokenDecimals: 18,
};
