import { type FigureOptions } from '#libs/chain';
import { type AuditDifference, type WalletBalance } from '#libs/db';
import { type BlockRef } from '#libs/domain';
import { type AuditParts } from './audit-parts.js';
import { chunks } from './chunks.js';
import { firstWord, secondWord } from './second-word.js';

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
    const told = await firstWord(this.parts, this.balancesOf(batch));
    if (told === undefined) {
      this.isTold = false;
      return;
    }
    const doubtful = batch.filter(({ balance }, index) => told.figure[index] !== balance);
    this.count += batch.length - doubtful.length;
    if (doubtful.length > 0) await this.compareAgain(doubtful, told.endpoint);
    this.parts.onProgress(`${this.count} wallets compared`);
  }

  /** Against another endpoint's word than the one they differ from. */
  private async compareAgain(doubtful: readonly WalletBalance[], endpoint: string): Promise<void> {
    const told = await secondWord(this.parts, endpoint, this.balancesOf(doubtful));
    if (told === undefined) {
      this.isTold = false;
      return;
    }
    this.count += doubtful.length;
    for (const [index, { wallet, balance }] of doubtful.entries()) {
      const contract = told[index] ?? 0n;
      if (contract !== balance) this.differences.push({ wallet, indexed: balance, contract });
    }
  }

  private balancesOf(batch: readonly WalletBalance[]) {
    const wallets = batch.map(({ wallet }) => wallet);
    return (options: FigureOptions) =>
      this.parts.reader.stakeBalances(wallets, this.block, options);
  }
}
