/**
 * Compares wallets in the index with the contract's own balances of them. With two providers, no single provider can
 * make a difference believed.
 */
import {
  askFigure,
  askOtherProvider,
  type ChainReader,
  type FigureOptions,
  unlessAllFail,
} from '#libs/chain';
import { type AuditDifference, type IndexStore } from '#libs/db';
import { type Address, type BlockRef } from '#libs/domain';
import { type Logger } from '#libs/platform';

export interface Difference extends AuditDifference {
  readonly block: bigint;
}

interface Compared {
  readonly endpoint: string;
  readonly differences: Difference[];
}

export class BalanceComparison {
  /**
   * The endpoint that was asked last. Providers take turns, so that one provider sees a difference that another hides.
   */
  private lastAsked: string | undefined;

  constructor(
    private readonly reader: ChainReader,
    private readonly store: IndexStore,
    private readonly logger: Logger,
  ) {}

  /**
   * The wallets that differ at the end of a block. A wallet that another provider reports as the index has it does not
   * count, and is logged.
   * @returns undefined where no endpoint has the state of the block
   */
  async compare(wallets: readonly Address[], block: BlockRef): Promise<Difference[] | undefined> {
    if (wallets.length === 0) return [];
    const first = (await this.compareInTurn(wallets, block)) ?? (await this.ask(wallets, block));
    this.lastAsked = first?.endpoint;
    if (!first || first.differences.length === 0) return first?.differences;
    const differing = first.differences.map(({ wallet }) => wallet);
    const second = await this.askOther(differing, block, first.endpoint);
    if (!second) return first.differences;
    const confirmed = new Set(second.differences.map(({ wallet }) => wallet));
    for (const { wallet, ...figures } of first.differences) {
      if (confirmed.has(wallet)) continue;
      this.logger.warn(
        { wallet, ...figures, endpoint: first.endpoint, other: second.endpoint },
        'An endpoint tells another balance than the index and another provider: it is not believed',
      );
    }
    return first.differences.filter(({ wallet }) => confirmed.has(wallet));
  }

  /** Asks another provider than the last time; undefined where that provider cannot answer now. */
  private async compareInTurn(
    wallets: readonly Address[],
    block: BlockRef,
  ): Promise<Compared | undefined> {
    if (this.lastAsked === undefined) return undefined;
    return unlessAllFail(this.askOther(wallets, block, this.lastAsked));
  }

  private askOther(wallets: readonly Address[], block: BlockRef, endpoint: string) {
    return askOtherProvider(endpoint, this.reader.endpoints, (options) =>
      this.ask(wallets, block, options),
    );
  }

  private async ask(
    wallets: readonly Address[],
    block: BlockRef,
    options: FigureOptions = {},
  ): Promise<Compared | undefined> {
    const told = await askFigure((said) =>
      this.reader.stakeBalances(wallets, block, { ...options, ...said }),
    );
    if (!told) return undefined;
    const balances = await this.store.balancesAt(wallets, block.number);
    const differences = wallets.flatMap((wallet, index) => {
      const [indexed, contract] = [balances[index] ?? 0n, told.figure[index] ?? 0n];
      return indexed === contract ? [] : [{ wallet, block: block.number, indexed, contract }];
    });
    return { endpoint: told.endpoint, differences };
  }
}
