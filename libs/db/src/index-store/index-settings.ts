import { createHash } from 'node:crypto';
import { canonicalJson, PermanentError } from '#libs/domain';

/** What decides which rows the index holds. Changing any of it makes the stored rows mean something else. */
export interface IndexSettings {
  readonly chainId: number;
  readonly stakeContracts: readonly string[];
  readonly tokenContract: string;
  readonly startBlock: string;
  /** Canonical form of STAKE_EVENTS. */
  readonly events: unknown;
}

/** The settings differ from those the stored index was made with. */
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
  readonly fingerprint: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Where the settings that are given differ from those of the index; those that are not given are not compared. */
export function settingDifferences(
  { settings }: Pick<StoredSettings, 'settings'>,
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
