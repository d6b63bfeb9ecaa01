import { type AuditDifference, type WalletBalance } from '#libs/db';
import { type BlockRef } from '#libs/domain';
import { type AuditParts } from './audit-parts.js';
import { chunks } from './chunks.js';
import { persist } from './persist.js';

/** In one batch; with several contracts as many calls for each. */
const WALLETS_AT_ONCE = 100;

/** Counts what was compared, and keeps what differs. */
export class Tally {
  readonly differences: AuditDifference[] = [];
  private count = 0;
  private isTold = true;

  constructor(
    private readonly parts: AuditParts,
    private readonly block: BlockRef,
  ) {}

  /** Undefined where nobody tells balances. */
  get compared(): number | undefined {
    return this.isTold || this.count > 0 ? this.count : undefined;
  }

  /** False where balances were told at first, and then no more: no node had the block's state any longer. */
  get isWhole(): boolean {
    return this.isTold || this.count === 0;
  }

  async compare(balances: readonly WalletBalance[]): Promise<void> {
    const { pace, sleep, signal } = this.parts;
    for (const together of chunks(chunks(balances, WALLETS_AT_ONCE), pace.batchesAtOnce)) {
      signal?.throwIfAborted();
      if (!this.isTold) return;
      await Promise.all(together.map((batch) => this.compareBatch(batch)));
      if (pace.pauseMs > 0) await sleep(pace.pauseMs);
    }
  }

  private async compareBatch(batch: readonly WalletBalance[]): Promise<void> {
    const { reader, onProgress } = this.parts;
    const wallets = batch.map(({ wallet }) => wallet);
    const told = await persist(this.parts, () => reader.stakeBalances(wallets, this.block));
    if (told === undefined) {
      this.isTold = false;
      return;
    }
    this.count += batch.length;
    onProgress(`${this.count} wallets compared`);
    for (const [index, { wallet, balance }] of batch.entries()) {
      const contract = told[index] ?? 0n;
      if (contract !== balance) this.differences.push({ wallet, indexed: balance, contract });
    }
  }
}
