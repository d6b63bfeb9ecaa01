/**
 * Compares what the vaults paid with what the redemptions say of it. One process at a time; what was read of the chain is kept, so
 * that a run which was cut off is taken up by the next one.
 */
import { type RpcPool, type VaultPlace, VaultReader } from '#libs/chain';
import { type Books, type Checkpoint, type ReconciliationStore } from '#libs/db';
import { type Address, type BlockRef, type Difference, reconcile } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type Alert } from '../observe/alerts.js';
import { ClaimScan } from './claim-scan.js';

export interface ReconcilerParts {
  readonly pool: RpcPool;
  readonly store: ReconciliationStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly raise: (alert: Alert) => void;
}

export interface ReconcilerOptions {
  readonly place: VaultPlace;
  readonly token: Address;
  /** FINALITY: `finalized`, `safe` or `depth:<blocks>`. */
  readonly finality: string;
  /** Of the vault; no claim is older. */
  readonly startBlock: bigint;
  /** Blocks that are read before that is stored. Default 50,000. */
  readonly spanBlocks?: bigint;
}

const SPAN_BLOCKS = 50_000n;
/** A worker looks at open payouts every few seconds or minutes. */
const OVERDUE_MS = 3_600_000;

export class Reconciler {
  constructor(
    private readonly parts: ReconcilerParts,
    private readonly options: ReconcilerOptions,
  ) {}

  /**
   * @returns the differences, which were recorded and told; undefined where another process is at it
   * @throws the signal's reason; AllEndpointsFailedError, DatabaseUnavailableError and others where it cannot be done now
   */
  async run(signal = new AbortController().signal): Promise<readonly Difference[] | undefined> {
    const held = await this.parts.store.exclusively(() => this.compare(signal));
    return held?.result;
  }

  private async compare(signal: AbortSignal): Promise<readonly Difference[]> {
    const { pool, store, clock, logger } = this.parts;
    const { place, token, finality, startBlock, spanBlocks = SPAN_BLOCKS } = this.options;
    const reader = new VaultReader(pool, { vault: place.vault, token, finality, clock });
    const finalised = await reader.finalised();
    const scan = new ClaimScan(this.parts, finalised, { token, finality, spanBlocks, signal });
    await store.begin(place, startBlock);
    const broken: Difference[] = [];
    for (const checkpoint of await store.checkpoints(place.chainId)) {
      if (await scan.isTakenBack(checkpoint)) broken.push(this.takenBack(checkpoint));
      const isBroken = broken.at(-1)?.subject === checkpoint.vault;
      await scan.forward(isBroken ? await store.forget(checkpoint) : checkpoint);
    }
    const { figures } = await this.books(scan);
    const before = await store.lastRun();
    const found = reconcile(figures, before);
    for (const difference of found) this.raise(difference);
    const differences = [...broken, ...found];
    await store.record(clock.nowMs(), figures, differences);
    const block = finalised.number.toString();
    logger.info({ block, differences: differences.length }, 'Reconciled the ledger with the chain');
    return differences;
  }

  /** Where rows say claimed and no claim was read, a node may have left it out: the chain is asked for those blocks again. */
  private async books(scan: ClaimScan): Promise<Books> {
    const { store, logger } = this.parts;
    const books = await this.settledBooks();
    if (books.missingFrom.size === 0) return books;
    for (const checkpoint of await store.checkpoints(this.options.place.chainId)) {
      const from = books.missingFrom.get(checkpoint.vault);
      if (from === undefined) continue;
      logger.warn(
        { vault: checkpoint.vault, block: from.toString() },
        'Redemptions are claimed and no claim of them was read; reading the chain again',
      );
      await scan.again(checkpoint, from);
    }
    return this.settledBooks();
  }

  private async settledBooks(): Promise<Books> {
    const { store, clock } = this.parts;
    const { chainId } = this.options.place;
    for (const checkpoint of await store.checkpoints(chainId)) await store.settle(checkpoint);
    return store.books(chainId, clock.nowMs() - OVERDUE_MS);
  }

  /** Told at once: what follows may be cut off, and then nothing of it would be left to see. */
  private takenBack({ vault, block, claims }: Checkpoint): Difference {
    const difference: Difference = {
      kind: 'finality-broken',
      severity: 'critical',
      ...claims,
      text: `block ${describe(block)} was final and is no longer part of the chain; all claims are read again`,
      subject: vault,
      examples: [],
    };
    this.raise(difference);
    return difference;
  }

  private raise({ kind, severity, text, subject, tokens, examples }: Difference): void {
    const more = examples.length > 0 ? `; for example ${examples.join(', ')}` : '';
    const detail = `${subject}: ${text} (${tokens.toString()} of the token's smallest unit)${more}`;
    this.parts.raise({ severity, code: `reconciliation-${kind}`, detail });
  }
}

function describe(block: BlockRef | undefined): string {
  return block ? `${block.number.toString()} (${block.hash})` : 'unknown';
}
