import { createHash } from 'node:crypto';
import {
  type Address,
  type BlockRef,
  canonicalJson,
  PermanentError,
  RetryableError,
  parseAddress,
} from '#libs/domain';
import { type BlockColumns, blockOf, type Nullable, type RowOf } from '../connection/rows.js';

/** The state of a new index. */
export interface InitialIndexState extends StoredSettings {
  readonly chainId: number;
  readonly stakeContract: Address;
  readonly tokenContract: Address;
  readonly tokenSymbol: string;
  readonly tokenDecimals: number;
  /** The newest indexed block; in a new index the block before the first one to index. */
  readonly head: BlockRef;
}

/** The state of the index, which is the only row of staking.index_state. */
export interface IndexState extends InitialIndexState {
  /** Fencing token of the newest leader; writes with an older one are refused. */
  readonly fence: bigint;
  readonly finalised: BlockRef | undefined;
  /** The newest block up to which the events are verified (docs/decisions/0003). */
  readonly verifiedNumber: bigint | undefined;
  /** The sum of all balances at the head, in the token's smallest unit. */
  readonly total: bigint;
  /** Number of rollbacks so far. */
  readonly rollbacks: bigint;
  /** The last time at which the index was level with the chain. */
  readonly syncedAt: Date | undefined;
  readonly halted: { readonly at: Date; readonly reason: string } | undefined;
}

/** The columns of an IndexStateRow, with `s` as alias of staking.index_state. */
export const STATE_COLUMNS = `s.fingerprint, s.settings, s.chain_id AS "chainId", '0x' || encode(s.stake_contract, 'hex') AS "stakeContract",
  '0x' || encode(s.token_contract, 'hex') AS "tokenContract", s.token_symbol AS "tokenSymbol", s.token_decimals AS "tokenDecimals", s.fence,
  ARRAY[s.head_number::text, encode(s.head_hash, 'hex'), s.head_seconds::text] AS head,
  ARRAY[s.finalised_number::text, encode(s.finalised_hash, 'hex'), s.finalised_seconds::text] AS finalised,
  s.verified_number AS "verifiedNumber", s.total, s.rollbacks, s.synced_at AS "syncedAt",
  s.halted_at AS "haltedAt", s.halted_reason AS "haltedReason"`;

export type IndexStateRow = RowOf<Omit<IndexState, 'chainId' | 'head' | 'finalised' | 'halted'>> &
  Nullable<{ haltedAt: Date; haltedReason: string }> & {
    readonly chainId: string;
    readonly head: BlockColumns;
    readonly finalised: Nullable<BlockColumns>;
  };

export function indexStateOf({ haltedAt: at, haltedReason, ...row }: IndexStateRow): IndexState {
  return {
    ...row,
    chainId: Number(row.chainId),
    fence: BigInt(row.fence),
    head: blockOf(...row.head),
    finalised: blockOf(...row.finalised),
    verifiedNumber: row.verifiedNumber === null ? undefined : BigInt(row.verifiedNumber),
    total: BigInt(row.total),
    rollbacks: BigInt(row.rollbacks),
    syncedAt: row.syncedAt ?? undefined,
    halted: at === null ? undefined : { at, reason: haltedReason ?? '' },
  };
}

/** Another process has become the leader, so this one must not write again. */
export class FencedError extends PermanentError {
  constructor() {
    super(
      'INDEX_FENCED',
      'Another indexer has taken the lead over this index; this one stops writing. Run one indexer for each database, or let the other take over.',
    );
  }
}

/**
 * The stored head is not the head that the write builds on. Nothing was written; the caller has
 * to read the state again.
 */
export class StaleHeadError extends RetryableError {
  constructor(expected: BlockRef) {
    super(
      'INDEX_HEAD_MOVED',
      `The stored head is no longer block ${expected.number.toString()} (${expected.hash}); nothing was written`,
    );
  }
}

/**
 * The write was computed from a balance that is not the stored one. Nothing was written. Read again, the state is right
 * unless the program itself is wrong, so several refusals in a row halt the index.
 */
export class WrongStateError extends PermanentError {
  /** @param stated and `stored` in the token's smallest unit; null for a wallet without history */
  constructor(
    readonly wallet: Address,
    stated: string | null,
    stored: string | null,
  ) {
    super(
      'WRONG_WALLET_STATE',
      `The changes of wallet ${wallet} were computed from ${stated ?? 'no history'}, but the index holds ${stored ?? 'no history'}. ` +
        'Nothing was written, and the api does not answer about this wallet until `index repair` has compared it with the chain. ' +
        'This is a fault of the program, or of a second writer: please report it with this message.',
    );
  }
}

/**
 * The write contains blocks beyond the newest partition, and the next partition could not be added
 * yet. Nothing was written.
 */
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

/** Settings that decide which rows the index holds. With any other value the stored rows would mean something else. */
export interface IndexSettings {
  readonly chainId: number;
  readonly stakeContracts: readonly string[];
  readonly tokenContract: string;
  readonly startBlock: string;
  /** The canonical form of STAKE_EVENTS. */
  readonly events: unknown;
}

export class SettingsChangedError extends PermanentError {
  constructor(differences: readonly string[]) {
    super(
      'SETTINGS_CHANGED',
      `This database holds an index made with other settings: ${differences.join('; ')}. Nothing was changed. Set them back, or make the ` +
        'index again with them: `index again` (docs/operating/troubleshooting.md#indexing-again).',
    );
  }
}

/** SHA-256 of the canonical JSON of the settings, as hex digits. */
export function fingerprintOf(settings: IndexSettings): string {
  return createHash('sha256').update(canonicalJson(settings)).digest('hex');
}

/** A setting with its value in the index and another one; both values are canonical JSON. */
export interface SettingPair {
  /** Name of the environment variable, for example `STAKE_CONTRACT`. */
  readonly variable: string;
  readonly stored: string;
  readonly wanted: string;
}

export interface StoredSettings {
  /**
   * Fingerprint of the settings that decide what the rows mean. An indexer with another fingerprint refuses the rows.
   */
  readonly fingerprint: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The settings of `wanted` beside those of the index. Settings that are absent from `wanted` are left out. */
export function settingPairs(
  { settings }: Pick<StoredSettings, 'settings'>,
  wanted: Partial<IndexSettings>,
): SettingPair[] {
  return Object.entries(wanted)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({
      variable: VARIABLES[name] ?? name,
      stored: canonicalJson(settings[name] ?? null),
      wanted: canonicalJson(value),
    }));
}

/** The settings of `wanted` that differ from those of the index. */
export function settingDifferences(
  stored: Pick<StoredSettings, 'settings'>,
  wanted: Partial<IndexSettings>,
): SettingPair[] {
  return settingPairs(stored, wanted).filter((one) => one.stored !== one.wanted);
}

/** @throws SettingsChangedError, which names each setting that differs, with both values */
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

/** The staking contracts whose balances are added up. The first one is reported as the contract of the index. */
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
