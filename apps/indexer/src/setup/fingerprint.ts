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

/** @throws SettingsChangedError naming each setting with both values */
export function requireSameSettings(
  stored: { readonly fingerprint: string; readonly settings: Record<string, unknown> },
  wanted: IndexSettings,
): void {
  if (stored.fingerprint === fingerprintOf(wanted)) return;
  const differences = Object.entries(wanted)
    .filter(
      ([name, value]) => canonicalJson(value) !== canonicalJson(stored.settings[name] ?? null),
    )
    .map(
      ([name, value]) =>
        `${VARIABLES[name] ?? name} was ${canonicalJson(stored.settings[name] ?? null)} and is now ${canonicalJson(value)}`,
    );
  throw new SettingsChangedError(differences);
}

const VARIABLES: Record<string, string> = {
  chainId: 'CHAIN_ID',
  stakeContracts: 'STAKE_CONTRACT',
  tokenContract: 'TOKEN_CONTRACT',
  startBlock: 'STAKE_START_BLOCK',
  events: 'STAKE_EVENTS',
};
