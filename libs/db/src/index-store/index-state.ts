import { createHash } from 'node:crypto';
import {
  type Address,
  type BlockRef,
  canonicalJson,
  PermanentError,
  RetryableError,
  parseAddress,
} from '#libs/domain';
import { addressOf, blockOf } from '../rows.js';

/** What an index starts with. */
export interface InitialIndexState extends StoredSettings {
  readonly chainId: number;
  readonly stakeContract: Address;
  readonly tokenContract: Address;
  readonly tokenSymbol: string;
  readonly tokenDecimals: number;
  /** The newest indexed block; at first the block before the first one. */
  readonly head: BlockRef;
}

/** The one row that says what the index holds and how far it is. */
export interface IndexState extends InitialIndexState {
  /** Of the newest leader: writes of an older one are refused. */
  readonly fence: bigint;
  readonly finalised: BlockRef | undefined;
  /** The newest block at which the sum of balances agreed with the contract. */
  readonly verifiedNumber: bigint | undefined;
  /** The sum of all balances at the head, in the token's smallest unit. */
  readonly total: bigint;
  /** Grows with each rollback. */
  readonly rollbacks: bigint;
  /** When the index was last level with the chain. */
  readonly syncedAt: Date | undefined;
  readonly halted: { readonly at: Date; readonly reason: string } | undefined;
}

/** The columns that make an IndexStateRow; `s` is staking.index_state. */
export const STATE_COLUMNS = `s.fingerprint, s.settings, s.chain_id, encode(s.stake_contract, 'hex') AS stake_contract,
  encode(s.token_contract, 'hex') AS token_contract, s.token_symbol, s.token_decimals, s.fence,
  s.head_number, encode(s.head_hash, 'hex') AS head_hash, s.head_seconds,
  s.finalised_number, encode(s.finalised_hash, 'hex') AS finalised_hash, s.finalised_seconds,
  s.verified_number, s.total, s.rollbacks, s.synced_at, s.halted_at, s.halted_reason`;

export interface IndexStateRow {
  fingerprint: string;
  settings: Record<string, unknown>;
  chain_id: string;
  stake_contract: string;
  token_contract: string;
  token_symbol: string;
  token_decimals: number;
  fence: string;
  head_number: string;
  head_hash: string;
  head_seconds: string;
  finalised_number: string | null;
  finalised_hash: string | null;
  finalised_seconds: string | null;
  verified_number: string | null;
  total: string;
  rollbacks: string;
  synced_at: Date | null;
  halted_at: Date | null;
  halted_reason: string | null;
}

export function indexStateOf(row: IndexStateRow): IndexState {
  return {
    fingerprint: row.fingerprint,
    settings: row.settings,
    chainId: Number(row.chain_id),
    stakeContract: addressOf(row.stake_contract),
    tokenContract: addressOf(row.token_contract),
    tokenSymbol: row.token_symbol,
    tokenDecimals: row.token_decimals,
    fence: BigInt(row.fence),
    head: blockOf(row.head_number, row.head_hash, row.head_seconds),
    finalised: blockOf(row.finalised_number, row.finalised_hash, row.finalised_seconds),
    verifiedNumber: row.verified_number === null ? undefined : BigInt(row.verified_number),
    total: BigInt(row.total),
    rollbacks: BigInt(row.rollbacks),
    syncedAt: row.synced_at ?? undefined,
    halted:
      row.halted_at === null ? undefined : { at: row.halted_at, reason: row.halted_reason ?? '' },
  };
}

/** Another process has taken the lead; this one must not write again. */
export class FencedError extends PermanentError {
  constructor() {
    super(
      'INDEX_FENCED',
      'Another indexer has taken the lead over this index; this one stops writing. Run one indexer for each database, or let the other take over.',
    );
  }
}

/** The stored head is not the one that the write builds on. Nothing was written: read the state and go on from there. */
export class HeadMovedError extends RetryableError {
  constructor(expected: BlockRef) {
    super(
      'INDEX_HEAD_MOVED',
      `The stored head is no longer block ${expected.number.toString()} (${expected.hash}); nothing was written`,
    );
  }
}

/** The newest partition ends below the blocks of the write, and the one behind it could not be added yet. Nothing was written. */
export class PartitionAwaitedError extends RetryableError {
  constructor(cause: unknown) {
    super(
      'PARTITION_AWAITED',
      'The next partition of the index is added once a transaction has ended that uses its tables for long: find it (pg_stat_activity, ' +
        'xact_start) and let it end. Nothing was written; the indexer goes on then.',
      { cause },
    );
  }
}

export class IndexMissingError extends PermanentError {
  constructor() {
    super('INDEX_MISSING', 'This database holds no index yet: start the indexer once');
  }
}

/** What decides which rows the index holds. Changing any of it makes the stored rows mean something else. */
export interface IndexSettings {
  readonly chainId: number;
  readonly stakeContracts: readonly string[];
  readonly tokenContract: string;
  readonly startBlock: string;
  /** Canonical form of STAKE_EVENTS. */
  readonly events: unknown;
}

export class SettingsChangedError extends PermanentError {
  constructor(differences: readonly string[]) {
    super(
      'SETTINGS_CHANGED',
      `This database holds an index made with other settings: ${differences.join('; ')}. Nothing was changed. Set them back, or ` +
        `index into another database (see docs/operating/reindexing.md).`,
    );
  }
}

/** SHA-256 over the canonical JSON of the settings, hex. */
export function fingerprintOf(settings: IndexSettings): string {
  return createHash('sha256').update(canonicalJson(settings)).digest('hex');
}

/** One setting that an index was made with another value of; both as canonical JSON. */
export interface SettingDifference {
  /** `STAKE_CONTRACT` */
  readonly variable: string;
  readonly stored: string;
  readonly wanted: string;
}

export interface StoredSettings {
  /** Of the settings that decide what the rows mean; another one refuses the existing rows. */
  readonly fingerprint: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Where the settings that are given differ from those of the index; those that are not given are not compared. */
export function settingDifferences(
  { settings }: StoredSettings,
  wanted: Partial<IndexSettings>,
): SettingDifference[] {
  return Object.entries(wanted)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({
      variable: VARIABLES[name] ?? name,
      stored: canonicalJson(settings[name] ?? null),
      wanted: canonicalJson(value),
    }))
    .filter(({ stored, wanted }) => stored !== wanted);
}

/** @throws SettingsChangedError naming each setting with both values */
export function requireSameSettings(stored: StoredSettings, wanted: IndexSettings): void {
  if (stored.fingerprint === fingerprintOf(wanted)) return;
  const differences = settingDifferences(stored, wanted);
  if (differences.length === 0) throw new SettingsChangedError([FORGED]);
  throw new SettingsChangedError(
    differences.map((one) => `${one.variable} was ${one.stored} and is now ${one.wanted}`),
  );
}

const FORGED = 'what is stored of them does not belong to its fingerprint';

const VARIABLES: Record<string, string> = {
  chainId: 'CHAIN_ID',
  stakeContracts: 'STAKE_CONTRACT',
  tokenContract: 'TOKEN_CONTRACT',
  startBlock: 'STAKE_START_BLOCK',
  events: 'STAKE_EVENTS',
};

/** The contracts whose balances add up; the first is the one that is reported. */
export function stakeContractsOf({
  settings,
  stakeContract,
}: IndexState): readonly [Address, ...Address[]] {
  const { stakeContracts } = settings;
  const [first = stakeContract, ...more] = (
    Array.isArray(stakeContracts) ? (stakeContracts as unknown[]) : []
  ).flatMap((text) => (typeof text === 'string' ? (parseAddress(text) ?? []) : []));
  return [first, ...more];
}
