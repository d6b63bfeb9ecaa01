import {
  type BlockRef,
  type Difference,
  type ReconciliationFigures,
  RetryableError,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { hexOf } from '../connection/rows.js';
import { exclusively } from './exclusively.js';
import {
  type Books,
  type LastRun,
  BOOKS_WITHIN_MS,
  readBooks,
  readLastRun,
  recordRun,
  sumOf,
  type TokensJson,
} from './reconciliation-books.js';
import {
  beginVault,
  type Checkpoint,
  CHECKPOINT_COLUMNS,
  checkpointOf,
  type CheckpointRow,
  CLAIM_ROWS,
  columnsOf,
  FITS,
  type VaultClaim,
  type VaultPlace,
} from './vault-claims.js';

interface Key {
  readonly chainId: number;
  readonly vault: string;
}

const BATCH = 5_000;
const OF_VAULT = `chain_id = :chainId AND vault = decode(:vault, 'hex')`;
/** Condition: the checkpoint has not moved since it was read. */
const UNMOVED = `block_number IS NOT DISTINCT FROM :before`;

const CHECKPOINTS = named<{ chainId: number }>(
  'reconciliation_checkpoints',
  `SELECT ${CHECKPOINT_COLUMNS} FROM redemption.reconciliation_checkpoint WHERE chain_id = :chainId ORDER BY vault`,
);

/** A vault pays an id once, so a claim that is already stored was read before. */
const ADD_CLAIMS = named<Key & ReturnType<typeof columnsOf> & { seenAt: Date }>(
  'reconciliation_add_claims',
  `WITH added AS (
      INSERT INTO redemption.vault_claim (chain_id, vault, vault_id, redemption_id, transaction_hash, block_number, block_at,
        recipient, amount, seen_at)
      SELECT :chainId, decode(:vault, 'hex'), c.*, :seenAt FROM ${CLAIM_ROWS} AS c
      ON CONFLICT DO NOTHING RETURNING amount)
    SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS tokens FROM added`,
);

interface Advance extends Key {
  readonly before: bigint | null;
  readonly number: bigint;
  readonly hash: string;
  readonly seconds: number;
  readonly claims: number;
  readonly tokens: bigint;
}

const ADVANCE = named<Advance>(
  'reconciliation_advance',
  `UPDATE redemption.reconciliation_checkpoint
    SET block_number = :number, block_hash = decode(:hash, 'hex'), block_at = to_timestamp(:seconds),
      claims = claims + :claims, tokens = tokens + :tokens
    WHERE ${OF_VAULT} AND ${UNMOVED} RETURNING ${CHECKPOINT_COLUMNS}`,
);

const FORGET = named<Key & { before: bigint | null }>(
  'reconciliation_forget',
  `UPDATE redemption.reconciliation_checkpoint
    SET block_number = NULL, block_hash = NULL, block_at = NULL, claims = 0, tokens = 0
    WHERE ${OF_VAULT} AND ${UNMOVED} RETURNING ${CHECKPOINT_COLUMNS}`,
);

const FORGET_CLAIMS = named<Key>(
  'reconciliation_forget_claims',
  `DELETE FROM redemption.vault_claim WHERE ${OF_VAULT}`,
);

/** Settles one batch of claims, in the order of their ids. */
const SETTLE = named<Key & { after: string; limit: number }>(
  'reconciliation_settle',
  `WITH batch AS (
      SELECT chain_id, vault, vault_id FROM redemption.vault_claim
      WHERE ${OF_VAULT} AND NOT settled AND vault_id > decode(:after, 'hex')
      ORDER BY vault_id LIMIT :limit),
    done AS (
      UPDATE redemption.vault_claim c SET settled = true
      FROM batch b, redemption.redemption r
      WHERE (c.chain_id, c.vault, c.vault_id) = (b.chain_id, b.vault, b.vault_id)
        AND r.id = c.redemption_id AND r.state = 'claimed' AND ${FITS})
    SELECT encode(vault_id, 'hex') AS last FROM batch ORDER BY vault_id DESC LIMIT 1`,
);

/**
 * The claims of the vaults as the chain has them, the block up to which they were read, and the results of the
 * comparison with the redemptions.
 */
export class ReconciliationStore {
  constructor(private readonly database: Database) {}

  /**
   * If two processes do the work after all, the checkpoint prevents harm: each process moves it only from where this
   * process read it.
   * @see exclusively
   */
  exclusively<T>(
    work: (lease: AbortSignal) => Promise<T>,
  ): Promise<{ readonly result: T } | undefined> {
    return exclusively(this.database, 'reconciliation', work);
  }

  /** Adds the checkpoint of the vault. Does nothing where there is one, whose start block stays. */
  begin(place: VaultPlace, startBlock: bigint): Promise<void> {
    return beginVault(this.database, place, startBlock);
  }

  /** Checkpoints of all vaults on this chain, because a replaced vault may still pay. */
  async checkpoints(chainId: number): Promise<Checkpoint[]> {
    const rows = await this.database.query<CheckpointRow & object>(CHECKPOINTS({ chainId }));
    return rows.map(checkpointOf);
  }

  /**
   * Adds the claims that were read up to `block`, which is the checkpoint's own block where older blocks were read
   * again. Claims that are already stored are not counted twice.
   * @throws RetryableError RECONCILIATION_MOVED where another process has moved the checkpoint
   */
  advance(
    before: Checkpoint,
    block: BlockRef,
    claims: readonly VaultClaim[],
    seenAtMs: number,
  ): Promise<Checkpoint> {
    return this.database.transaction(async (client) => {
      const key = keyOf(before);
      const added: TokensJson[] = [];
      for (let at = 0; at < claims.length; at += BATCH) {
        const columns = columnsOf(claims.slice(at, at + BATCH));
        const values = { ...key, ...columns, seenAt: new Date(seenAtMs) };
        added.push(...(await client.query<TokensJson>(ADD_CLAIMS(values))).rows);
      }
      const { count, tokens } = sumOf(added);
      const { rows } = await client.query<CheckpointRow>(
        ADVANCE({
          ...key,
          before: before.block?.number ?? null,
          number: block.number,
          hash: hexOf(block.hash),
          seconds: block.timestampSeconds,
          claims: count,
          tokens,
        }),
      );
      return moved(rows);
    });
  }

  /**
   * Deletes the claims and resets the checkpoint, so that all is read again from the start. For a chain that
   * took final blocks back.
   * @throws RetryableError RECONCILIATION_MOVED
   */
  forget(checkpoint: Checkpoint): Promise<Checkpoint> {
    return this.database.transaction(async (client) => {
      const key = keyOf(checkpoint);
      const before = checkpoint.block?.number ?? null;
      const { rows } = await client.query<CheckpointRow>(FORGET({ ...key, before }));
      await client.query(FORGET_CLAIMS(key));
      return moved(rows);
    });
  }

  /**
   * Marks the claims whose redemption is claimed as planned. The mark stays, because claim and redemption are final.
   */
  async settle(place: VaultPlace): Promise<void> {
    let after = '';
    for (;;) {
      const batch = { ...keyOf(place), after, limit: BATCH };
      const [row] = await this.database.query<{ last: string }>(SETTLE(batch));
      if (!row) return;
      after = row.last;
    }
  }

  /**
   * Reads all figures from one snapshot of the database.
   * @param overdueBeforeMs claims that were first seen before this moment should have been recorded
   */
  books(chainId: number, overdueBeforeMs: number): Promise<Books> {
    return this.database.transaction(
      (client) => readBooks(client, chainId, new Date(overdueBeforeMs)),
      BOOKS_WITHIN_MS,
    );
  }

  record(
    atMs: number,
    figures: ReconciliationFigures,
    differences: readonly Difference[],
  ): Promise<void> {
    return recordRun(this.database, new Date(atMs), figures, differences);
  }

  lastRun(): Promise<LastRun | undefined> {
    return readLastRun(this.database);
  }
}

function keyOf({ chainId, vault }: VaultPlace): Key {
  return { chainId, vault: hexOf(vault) };
}

function moved([row]: readonly CheckpointRow[]): Checkpoint {
  if (row) return checkpointOf(row);
  throw new RetryableError(
    'RECONCILIATION_MOVED',
    'Another process reads the claims of the vault at this moment; this run is given up.',
  );
}
