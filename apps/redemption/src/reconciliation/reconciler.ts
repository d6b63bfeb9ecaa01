/**
 * Compares what the vaults paid with what the redemptions say about it. One process at a time does so. What was read of
 * the chain is stored, so the next run continues an interrupted one.
 */
import { Inject, Injectable } from '@nestjs/common';
import { RpcPool, VaultReader } from '#libs/chain';
import { type Books, type Checkpoint, ReconciliationStore } from '#libs/db';
import { type BlockRef, type Difference, reconcile } from '#libs/domain';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { Alerts } from '../observe/alerts.js';
import { RedemptionSettings } from '../redemption.env.js';
import { ClaimScan } from './claim-scan.js';

/**
 * Milliseconds after which a claim should have been recorded in its row: a worker polls open payouts every few seconds
 * or minutes.
 */
const OVERDUE_MS = 3_600_000;

@Injectable()
export class Reconciler {
  /** Blocks per step of the checkpoint. */
  spanBlocks = 50_000n;

  constructor(
    private readonly settings: RedemptionSettings,
    private readonly pool: RpcPool,
    private readonly store: ReconciliationStore,
    private readonly alerts: Alerts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * @returns the differences, which were stored and raised as alerts; undefined where another process reconciles
   * @throws the signal's reason; AllEndpointsFailedError, DatabaseUnavailableError and others where it cannot be done
   *   now
   */
  async reconcile(
    signal = new AbortController().signal,
  ): Promise<readonly Difference[] | undefined> {
    const held = await this.store.exclusively((lease) =>
      this.compare(AbortSignal.any([signal, lease])),
    );
    return held?.result;
  }

  private async compare(signal: AbortSignal): Promise<readonly Difference[]> {
    const { pool, store, clock, logger, spanBlocks } = this;
    const { vaultPlace: place, tokenContract: token, finality } = this.settings;
    const reader = new VaultReader(pool, { vault: place.vault, token, finality, clock });
    const finalised = await reader.finalised();
    const parts = { pool, store, clock, logger };
    const scan = new ClaimScan(parts, finalised, { token, finality, spanBlocks, signal });
    await store.begin(place, this.settings.vaultStartBlock);
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

  /** Where rows are claimed and no claim was read, a node may have left the claims out: those blocks are read again. */
  private async books(scan: ClaimScan): Promise<Books> {
    const { store, logger } = this;
    const books = await this.settledBooks();
    if (books.missingFrom.size === 0) return books;
    for (const checkpoint of await store.checkpoints(this.settings.chainId)) {
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
    const { store, clock } = this;
    const { chainId } = this.settings;
    for (const checkpoint of await store.checkpoints(chainId)) await store.settle(checkpoint);
    return store.books(chainId, clock.nowMs() - OVERDUE_MS);
  }

  /** Raises the alert at once: the run may be interrupted before the difference is stored. */
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
    this.alerts.raise({ severity, code: `reconciliation-${kind}`, detail });
  }
}

function describe(block: BlockRef | undefined): string {
  return block ? `${block.number.toString()} (${block.hash})` : 'unknown';
}
