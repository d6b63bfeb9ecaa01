/** Wallets in the index beside the contract's own balances of them. With two providers no single one makes a difference believed. */
import {
  AllEndpointsFailedError,
  type ChainReader,
  countProviders,
  type FigureOptions,
  isOutage,
  OUTAGE_PATIENCE_MS,
  ownProvider,
} from '#libs/chain';
import { type IndexStore } from '#libs/db';
import { type Address, type BlockRef } from '#libs/domain';
import { type Logger } from '#libs/platform';

export interface Difference {
  readonly wallet: Address;
  readonly block: bigint;
  readonly indexed: bigint;
  readonly contract: bigint;
}

export interface BalanceComparisonParts {
  readonly reader: Pick<ChainReader, 'stakeBalances' | 'endpoints'>;
  readonly store: Pick<IndexStore, 'balancesAt'>;
  readonly logger: Logger;
}

interface Found {
  readonly endpoint: string;
  readonly differences: Difference[];
}

export class BalanceComparison {
  /** Who was asked last: providers take turns, so that a difference that one of them hides is seen by the other. */
  private lastAsked: string | undefined;

  constructor(private readonly parts: BalanceComparisonParts) {}

  /**
   * The wallets that differ at the end of a block. One that another provider has as the index has it is none: that is logged.
   * @returns undefined where no endpoint has the state of that block
   */
  async compare(wallets: readonly Address[], block: BlockRef): Promise<Difference[] | undefined> {
    if (wallets.length === 0) return [];
    const first = (await this.inTurn(wallets, block)) ?? (await this.ask(wallets, block));
    this.lastAsked = first?.endpoint;
    if (!first || first.differences.length === 0) return first?.differences;
    const differing = first.differences.map(({ wallet }) => wallet);
    const second = await this.ofOther(differing, block, first.endpoint);
    if (!second) return first.differences;
    const confirmed = new Set(second.differences.map(({ wallet }) => wallet));
    for (const { wallet, ...figures } of first.differences) {
      if (confirmed.has(wallet)) continue;
      this.parts.logger.warn(
        { wallet, ...figures, endpoint: first.endpoint, other: second.endpoint },
        'An endpoint tells another balance than the index and another provider: it is not believed',
      );
    }
    return first.differences.filter(({ wallet }) => confirmed.has(wallet));
  }

  /** By another provider than the last time; undefined where it cannot say, which another time it can. */
  private async inTurn(wallets: readonly Address[], block: BlockRef): Promise<Found | undefined> {
    if (this.lastAsked === undefined) return undefined;
    try {
      return await this.ofOther(wallets, block, this.lastAsked);
    } catch (error) {
      if (error instanceof AllEndpointsFailedError) return undefined;
      throw error;
    }
  }

  /** By another provider than that of this endpoint; undefined where there is none, it does not answer, or has no such state. */
  private async ofOther(
    wallets: readonly Address[],
    block: BlockRef,
    endpoint: string,
  ): Promise<Found | undefined> {
    const { endpoints } = this.parts.reader;
    if (countProviders(endpoints) < 2) return undefined;
    try {
      return await this.ask(wallets, block, {
        avoid: ownProvider(endpoint, endpoints),
        patienceMs: OUTAGE_PATIENCE_MS,
      });
    } catch (error) {
      if (isOutage(error)) return undefined;
      throw error;
    }
  }

  private async ask(
    wallets: readonly Address[],
    block: BlockRef,
    options: FigureOptions = {},
  ): Promise<Found | undefined> {
    const { reader, store } = this.parts;
    let endpoint = '';
    const saidBy = (name: string): void => {
      endpoint = name;
    };
    const contract = await reader.stakeBalances(wallets, block, { ...options, saidBy });
    if (!contract) return undefined;
    const indexed = await store.balancesAt(wallets, block.number);
    const differences = wallets.flatMap((wallet, index) => {
      const pair = { indexed: indexed[index] ?? 0n, contract: contract[index] ?? 0n };
      return pair.indexed === pair.contract ? [] : [{ wallet, block: block.number, ...pair }];
    });
    return { endpoint, differences };
  }
}
