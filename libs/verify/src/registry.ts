/** Reads the roots of days from the contract `SnapshotRegistry`. */
import { parseAbi } from 'viem';
import { type Address, type NodeHash } from '#libs/domain';
import { type Hex } from './effect-decoder.js';
import { type NodeClient } from './node-client.js';
import { UncheckedError } from './verify.error.js';

const ABI = parseAbi([
  'function stakedIn() view returns (string)',
  'function rootOf(uint256 day) view returns (bytes32)',
]);
const NONE = `0x${'0'.repeat(64)}`;

export type Published =
  | { readonly root: NodeHash }
  /** Why there is no root, or why the node does not tell. */
  | { readonly reason: string };

export interface DaySpan {
  readonly first: number;
  readonly last: number;
}

export class SnapshotRegistry {
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
    } catch (error) {
      if (!(error instanceof UncheckedError)) throw error;
      return { reason: error.message };
    }
    return { reason: 'it has no root of the day: none was published' };
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

  private read<T>(
    what: string,
    ask: (contract: { readonly address: Hex; readonly abi: typeof ABI }) => Promise<T>,
  ): Promise<T> {
    const contract = { address: this.address as Hex, abi: ABI };
    return this.node.asked(`the ${what} of the registry ${this.address}`, () => ask(contract));
  }
}
