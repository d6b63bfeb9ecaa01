import { publishedKeys } from '#libs/chain';
import {
  developmentChain,
  localPages,
  openRedis,
  privatePartners,
  refuseSharedEvidenceKey,
} from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { fixedPrice } from '#libs/price';
import { type Answer, type Check, check, fault, notChecked, ok, table, warning } from './checks.js';
import { type DoctorSettings, type ReadDoctorSettings } from './doctor.settings.js';

/** Checks of the settings that services share. Their values are never reported. */
export function settingsChecks({ faults, given, unknown }: ReadDoctorSettings): readonly Check[] {
  return [
    check({
      title: 'settings',
      needs: [],
      ask: () => {
        const found = [
          ...[...faults].map(([variable, expected]) =>
            fault(`${variable} ${expected}`, `Correct ${variable}.`),
          ),
          ...unknown.map((text) => warning(text, 'Correct its name, or remove it.')),
        ];
        if (found.length > 0) return found;
        return given === 0
          ? notChecked('none of them is set, and no stack runs in this clone')
          : ok(`${given} of those that services share are set, and usable`);
      },
    }),
    productionCheck,
  ];
}

/** Settings that services refuse in production, by the services' own rules, and keys that they refuse anywhere. */
const productionCheck = table({
  title: 'production',
  needs: [],
  read: ({ settings }) => settings,
  rows: [
    { title: 'production: keys', ask: sharedKey, remedy: 'Correct EVIDENCE_KEY.' },
    { title: 'production', ask: developmentSettings },
  ],
});

function sharedKey({ evidenceKey, secretsKey }: DoctorSettings): Answer | undefined {
  if (evidenceKey === undefined || secretsKey === undefined) return undefined;
  try {
    refuseSharedEvidenceKey(evidenceKey, secretsKey);
    return undefined;
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    return fault(error.message);
  }
}

function developmentSettings(settings: DoctorSettings): Answer | readonly Answer[] {
  if (settings.nodeEnv !== 'production') return notChecked('NODE_ENV is not production');
  const refused = [
    ...(settings.chainId === undefined ? [] : [developmentChain(settings.chainId)]),
    openRedis(settings.redisUrl),
    localPages(settings.siweDomains ?? []),
    privatePartners(settings.allowPrivatePartners),
    ...publishedKeys(settings),
    fixedPrice(settings.priceSource),
  ].filter(({ isGiven }) => isGiven);
  if (refused.length === 0) return ok('nothing is set that is meant for development');
  return refused.map(({ variable, why }) =>
    fault(`${variable}: ${why}`, `Change ${variable}: the service that uses it does not start.`),
  );
}
