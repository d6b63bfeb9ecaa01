/** Reads days from the contract `SnapshotRegistry`: the root of each day, or the root of a period with the day. */
import { parseAbi } from 'viem';
import { type Address, type NodeHash } from '#libs/domain';
import { type Hex } from '../chain/effect-decoder.js';
import { type NodeClient } from '../chain/node-client.js';
import { UncheckedError } from '../verify.error.js';

const ABI = parseAbi([
  'function stakedIn() view returns (string)',
  'function rootOf(uint256 day) view returns (bytes32)',
  'function periods(uint256 firstDay) view returns (uint256 lastDay, bytes32 root)',
  'function nextPeriodDay() view returns (uint256)',
]);
const NONE = `0x${'0'.repeat(64)}`;
/** `MAX_PERIOD_DAYS` of the contract. */
const MOST_DAYS = 366;

/** A root over all days of a period. To compare it, the roots of all its days are needed. */
export interface Period {
  readonly firstDay: number;
  readonly lastDay: number;
  readonly root: NodeHash;
}

export type Published =
  | { readonly root: NodeHash }
  | { readonly period: Period }
  /** Why there is neither a root nor a period, or why the node does not tell. */
  | { readonly reason: string };

export interface DaySpan {
  readonly first: number;
  readonly last: number;
}

export class SnapshotRegistry {
  private readonly begun = new Map<number, Promise<Period | undefined>>();

  constructor(
    private readonly node: NodeClient,
    private readonly address: Address,
  ) {}

  /**
   * Does not report failures of the node, since `published` reports them for each day.
   * @throws UncheckedError where the registry belongs to other staking contracts
   */
  async requireContracts(chainId: number, contracts: readonly Address[]): Promise<void> {
    let text: string;
    try {
      text = await this.read('staking contracts', (contract) =>
        this.node.client.readContract({ ...contract, functionName: 'stakedIn' }),
      );
    } catch (error) {
      if (error instanceof UncheckedError) return;
      throw error;
    }
    // A registry may name no staking contracts.
    if (text.trim() === '') return;
    const listed = text
      .toLowerCase()
      .split(',')
      .map((one) => one.trim());
    const meant = contracts.map((one) => `eip155:${chainId}:${one}`);
    if (listed.toSorted().join() === meant.toSorted().join()) return;
    const shown = listed.map((one) => one.replace(`eip155:${chainId}:`, '')).join(', ');
    throw new UncheckedError(
      `This registry is of ${shown.slice(0, 300)}, and not of ${contracts.join(', ')}: set --contract or --registry.`,
    );
  }

  /** A failure of the node becomes the `reason` of the day, not a rejection. */
  async published({ first, last }: DaySpan): Promise<Map<number, Published>> {
    const found = new Map<number, Published>();
    for (let day = first; day <= last; day += 1) found.set(day, await this.of(day));
    return found;
  }

  private async of(day: number): Promise<Published> {
    try {
      const root = await this.rootOf(day);
      if (root !== undefined) return { root };
      const period = await this.periodOf(day);
      if (period !== undefined) return { period };
    } catch (error) {
      if (!(error instanceof UncheckedError)) throw error;
      return { reason: error.message };
    }
    return { reason: 'it has no root of the day, nor of a period with it: none was published' };
  }

  private async rootOf(day: number): Promise<NodeHash | undefined> {
    const root = await this.read('root', (contract) =>
      this.node.client.readContract({
        ...contract,
        functionName: 'rootOf',
        args: [BigInt(day)],
      }),
    );
    return root === NONE ? undefined : (root as NodeHash);
  }

  /** Periods do not overlap, so only the last period that begins on or before the day can contain the day. */
  private async periodOf(day: number): Promise<Period | undefined> {
    const next = await this.read('periods', (contract) =>
      this.node.client.readContract({ ...contract, functionName: 'nextPeriodDay' }),
    );
    if (BigInt(day) >= next) return undefined;
    for (let firstDay = day; firstDay > day - MOST_DAYS && firstDay >= 0; firstDay -= 1) {
      const period = await this.periodFrom(firstDay);
      if (period !== undefined) return period.lastDay >= day ? period : undefined;
    }
    return undefined;
  }

  private periodFrom(firstDay: number): Promise<Period | undefined> {
    const known = this.begun.get(firstDay) ?? this.readPeriod(firstDay);
    this.begun.set(firstDay, known);
    return known;
  }

  private async readPeriod(firstDay: number): Promise<Period | undefined> {
    const [last, root] = await this.read('periods', (contract) =>
      this.node.client.readContract({
        ...contract,
        functionName: 'periods',
        args: [BigInt(firstDay)],
      }),
    );
    if (root === NONE) return undefined;
    const lastDay = Number(last);
    if (lastDay >= firstDay && lastDay - firstDay < MOST_DAYS) {
      return { firstDay, lastDay, root: root as NodeHash };
    }
    throw new UncheckedError(`${this.address} is no SnapshotRegistry: it has a period without end`);
  }

  private read<T>(
    what: string,
    ask: (contract: { readonly address: Hex; readonly abi: typeof ABI }) => Promise<T>,
  ): Promise<T> {
    const contract = { address: this.address as Hex, abi: ABI };
    return this.node.asked(`the ${what} of the registry ${this.address}`, () => ask(contract));
  }
}

/** All days whose roots are needed to compare the given days, with those of their periods. */
export function neededDays(
  { first, last }: DaySpan,
  published: ReadonlyMap<number, Published>,
): DaySpan {
  const periods = [...published.values()].flatMap((one) => ('period' in one ? [one.period] : []));
  return {
    first: Math.min(first, ...periods.map(({ firstDay }) => firstDay)),
    last: Math.max(last, ...periods.map(({ lastDay }) => lastDay)),
  };
}
