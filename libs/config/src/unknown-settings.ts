import leven from 'leven';
import { TEST_CONSTANTS } from './constant.js';
import { KNOWN_SETTINGS } from './known-settings.js';
import { type SettingsSource } from './read-settings.js';

/** Beginnings of names that other software does not use. VAULT_ and REGISTRY_ are used by HashiCorp's and Docker's. */
const OWN =
  /^(?:API|CONSOLE|EVIDENCE|INDEXER|PARTNER|PAYOUT|REDEMPTIONS?|SIWE|STAKE|VOUCHER|WEBHOOKS?)_/;
/** Generic names of credentials, which other software reads. */
const GENERIC = /^API_(?:KEY|TOKEN|SECRET)$/;
/** Two letters that are wrong, or in each other's place. */
const NEAR = 2;
/** Shorter names are near to many others. */
const SHORTEST = 6;

/**
 * Variables that seem to be settings and that no program of Lowmark reads: names that begin as ours, and names that are
 * near to a setting that is not set. One environment may serve all programs, so that settings of others are known.
 * @returns a sentence for each, without its value
 */
export function unknownSettings(source: SettingsSource = process.env): string[] {
  const known = [...KNOWN_SETTINGS, TEST_CONSTANTS];
  return Object.keys(source)
    .filter((name) => source[name] && !known.includes(name) && !GENERIC.test(name))
    .sort()
    .flatMap((name) => {
      const nearest = nearestOf(name, known);
      if (nearest !== undefined && !source[nearest]) {
        return [`${name} is not a setting. Did you mean ${nearest}?`];
      }
      return OWN.test(name) ? [`${name} is not a setting, and has no effect.`] : [];
    });
}

function nearestOf(name: string, settings: readonly string[]): string | undefined {
  if (name.length < SHORTEST) return undefined;
  const [first] = settings
    .map((setting) => ({ setting, distance: leven(name, setting) }))
    .filter(({ distance }) => distance <= NEAR)
    .sort((a, b) => a.distance - b.distance);
  return first?.setting;
}
