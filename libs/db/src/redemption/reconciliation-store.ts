import {
  type Address,
  type BlockRef,
  type Difference,
  type LedgerFigures,
  type ReconciliationFigures,
  RetryableError,
  type Tokens,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { run } from '../connection/statement.js';
import { addressOf, hexOf } from '../rows.js';
import { exclusively } from './exclusively.js';
import { type FiguresJson, figuresJson, ledgersOf, sumOf } from './reconciliation-json.js';
import {
  type Checkpoint,
  checkpointOf,
  type CheckpointRow,
  columnsOf,
  ledgerOf,
  type LedgerRow,
  plus,
  tokensOf,
  type TokensRow,
  type UnsettledRow,
  type VaultClaim,
  vaultOf,
  type VaultRow,
} from './reconciliation-rows.js';
import * as sql from './reconciliation.statements.js';

export interface Books {
  readonly figures: ReconciliationFigures;
  /** By vault: the oldest claim block that a claimed row names and of which no claim was read. */
  readonly missingFrom: ReadonlyMap<Address, bigint>;
}

export interface LastRun {
  readonly at: Date;
  readonly ledgers: readonly LedgerFigures[];
  /** Of all vaults together. */
  readonly chain: Tokens;
  readonly ledger: Tokens;
  readonly differences: readonly Pick<Difference, 'kind' | 'severity' | 'text'>[];
  /** Claims were acknowledged since. */
  readonly isOutdated: boolean;
}

interface LastRunRow {
  at: Date;
  figures: FiguresJson;
  differences: LastRun['differences'];
  isOutdated: boolean;
}

type Place = Pick<Checkpoint, 'chainId' | 'vault'>;

const BATCH = 5_000;
const EXAMPLES = 20;
/** All redemptions are added up, once a day. */
const BOOKS = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = '15min'`;

/** The claims of the vaults as the chain has them, how far they were read, and what came of the comparison with the redemptions. */
export class ReconciliationStore {
  constructor(private readonly database: Database) {}

  /**
   * Should the connection break, what keeps two from doing harm is that each only moves the checkpoint on from where it saw it.
   * @see exclusively
   */
  exclusively<T>(work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
    return exclusively(this.database, 'reconciliation', work);
  }

  /** Once is enough; the start block stays as it was first told. */
  async begin({ chainId, vault }: Place, startBlock: bigint): Promise<void> {
    await this.database.query(sql.BEGIN_VAULT, [chainId, hexOf(vault), startBlock.toString()]);
  }

  /** Of the vaults of this chain: those that were replaced may still be paid by. */
  async checkpoints(chainId: number): Promise<Checkpoint[]> {
    const rows = await this.database.query<CheckpointRow>(sql.CHECKPOINTS, [chainId]);
    return rows.map(checkpointOf);
  }

  /**
   * Adds what was read up to `block`, which is the checkpoint's own where older blocks were read again; claims that are there already
   * are not counted twice.
   * @throws RetryableError RECONCILIATION_MOVED where another process moved the checkpoint meanwhile
   */
  advance(
    before: Checkpoint,
    block: BlockRef,
    claims: readonly VaultClaim[],
    seenAtMs: number,
  ): Promise<Checkpoint> {
    return this.database.transaction(async (client) => {
      let added = { count: 0, tokens: 0n };
      for (let at = 0; at < claims.length; at += BATCH) {
        const part = claims.slice(at, at + BATCH);
        const [row] = await run<TokensRow>(client, sql.ADD_CLAIMS, [
          ...keyOf(before),
          new Date(seenAtMs),
          ...columnsOf(part),
        ]);
        added = plus(added, tokensOf(row));
      }
      const rows = await run<CheckpointRow>(client, sql.ADVANCE, [
        ...keyOf(before),
        before.block?.number.toString() ?? null,
        block.number.toString(),
        hexOf(block.hash),
        block.timestampSeconds,
        added.count,
        added.tokens.toString(),
      ]);
      return moved(rows);
    });
  }

  /** For a chain that took final blocks back: all is read again from the start. @throws RetryableError RECONCILIATION_MOVED */
  forget(before: Checkpoint): Promise<Checkpoint> {
    return this.database.transaction(async (client) => {
      const expected = before.block?.number.toString() ?? null;
      const rows = await run<CheckpointRow>(client, sql.FORGET, [...keyOf(before), expected]);
      await run(client, sql.FORGET_CLAIMS, keyOf(before));
      return moved(rows);
    });
  }

  /** Marks the claims whose row is claimed as planned, for good: both are final. */
  async settle(place: Place): Promise<void> {
    let last = '';
    for (;;) {
      const values = [...keyOf(place), last, BATCH];
      const [row] = await this.database.query<{ last: string }>(sql.SETTLE, values);
      if (!row) return;
      last = row.last;
    }
  }

  /**
   * The figures of one moment.
   * @param overdueBeforeMs claims seen before then should have been recorded
   */
  books(chainId: number, overdueBeforeMs: number): Promise<Books> {
    return this.database.transaction(async (client) => {
      await client.query(BOOKS);
      const ledgers = await run<LedgerRow>(client, sql.LEDGERS, []);
      const vaults = await run<VaultRow>(client, sql.VAULT_LEDGERS, [chainId, EXAMPLES]);
      const unsettled = await run<UnsettledRow>(client, sql.UNSETTLED, [
        chainId,
        EXAMPLES,
        new Date(overdueBeforeMs),
      ]);
      const [elsewhere] = await run<TokensRow>(client, sql.ELSEWHERE, [chainId]);
      const missingFrom = vaults.flatMap(({ vault, missing_from: from }) =>
        from === null ? [] : [[addressOf(vault), BigInt(from)] as const],
      );
      return {
        figures: {
          ledgers: ledgers.map(ledgerOf),
          vaults: vaults.map((row) => vaultOf(row, unsettled)),
          elsewhere: tokensOf(elsewhere),
        },
        missingFrom: new Map(missingFrom),
      };
    });
  }

  async record(
    atMs: number,
    figures: ReconciliationFigures,
    differences: readonly Difference[],
  ): Promise<void> {
    const values = [new Date(atMs), figuresJson(figures), figuresJson(differences)];
    await this.database.query(sql.RECORD, values);
  }

  async lastRun(): Promise<LastRun | undefined> {
    const [row] = await this.database.query<LastRunRow>(sql.LAST_RUN);
    if (!row) return undefined;
    const { at, figures, differences, isOutdated } = row;
    const sums = { chain: sumOf(figures, 'chain'), ledger: sumOf(figures, 'ledger') };
    return { at, ledgers: ledgersOf(figures), ...sums, differences, isOutdated };
  }
}

function keyOf({ chainId, vault }: Place): [number, string] {
  return [chainId, hexOf(vault)];
}

function moved([row]: readonly CheckpointRow[]): Checkpoint {
  if (row) return checkpointOf(row);
  throw new RetryableError(
    'RECONCILIATION_MOVED',
    'Another process reads the claims of the vault at this moment; this run is given up.',
  );
}
