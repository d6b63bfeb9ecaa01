import { type IndexState, stakeContractsOf } from '#libs/db';
import { type Address } from '#libs/domain';

/** What the index was made of, as its settings are stored with it. */
interface IndexedContracts {
  readonly contracts: readonly [Address, ...Address[]];
  readonly startBlock: bigint | undefined;
  /** keccak256 of the events' signatures. */
  readonly topics: readonly string[];
  /** Only a part of the contract's events counts: its own figures speak of the whole. */
  readonly isPartial: boolean;
}

/** Fields that are not as the indexer writes them are left out. */
export function indexedContracts(state: IndexState): IndexedContracts {
  const { startBlock, events } = state.settings;
  const specs = listOf(events).filter(isRecord);
  return {
    contracts: stakeContractsOf(state),
    startBlock:
      typeof startBlock === 'string' && /^\d+$/.test(startBlock) ? BigInt(startBlock) : undefined,
    topics: specs.flatMap(({ topic0 }) => (typeof topic0 === 'string' ? [topic0] : [])),
    isPartial: specs.some(({ where }) => listOf(where).length > 0),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
