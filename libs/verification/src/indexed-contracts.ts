import { type IndexState, stakeContractsOf } from '#libs/db';
import { type Address } from '#libs/domain';

/** The contracts and events that the index covers, from the settings that are stored with it. */
interface IndexedContracts {
  readonly contracts: readonly [Address, ...Address[]];
  readonly startBlock: bigint | undefined;
  /** keccak256 of the events' signatures. */
  readonly topics: readonly string[];
  /** Whether only a part of the contract's events counts, while the contract's own figures cover all of them. */
  readonly isPartial: boolean;
}

/** Leaves out fields that do not have the form in which the indexer writes them. */
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
