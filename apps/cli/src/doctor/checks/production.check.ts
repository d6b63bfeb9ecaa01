import { publishedKeys } from '#libs/chain';
import {
  developmentChain,
  localPages,
  openRedis,
  privatePartners,
  refuseSharedEvidenceKey,
} from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { looseLimits } from '#libs/price';
import { type Check } from '../check.js';
import { type DoctorSettings } from '../doctor.settings.js';
import { fault, notChecked, ok } from '../finding.js';

const NAME = 'production';

/** What services refuse to start with in production, by their own rules; and a key that they refuse anywhere. */
export const productionCheck: Check = {
  name: NAME,
  needs: [],
  *look({ settings }) {
    const shared = sharedKey(settings);
    if (shared !== undefined) yield fault(`${NAME}: keys`, shared, 'Correct EVIDENCE_KEY.');
    if (settings.nodeEnv !== 'production') {
      yield notChecked(NAME, 'NODE_ENV is not production');
      return;
    }
    const refused = [
      ...(settings.chainId === undefined ? [] : [developmentChain(settings.chainId)]),
      openRedis(settings.redisUrl),
      localPages(settings.siweDomains ?? []),
      privatePartners(settings.allowPrivatePartners),
      ...publishedKeys(settings),
      ...looseLimits(settings),
      {
        variable: 'SIGNATURE_DEBUGGER',
        isGiven: settings.signatureDebugger,
        why: 'hands out signatures',
      },
    ].filter(({ isGiven }) => isGiven);
    for (const { variable, why } of refused) {
      yield fault(
        NAME,
        `${variable}: ${why}`,
        `Change ${variable}: the service that uses it does not start.`,
      );
    }
    if (refused.length === 0) yield ok(NAME, 'nothing is set that is meant for development');
  },
};

function sharedKey({ evidenceKey, secretsKey }: DoctorSettings): string | undefined {
  if (evidenceKey === undefined || secretsKey === undefined) return undefined;
  try {
    refuseSharedEvidenceKey(evidenceKey, secretsKey);
    return undefined;
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    return error.message;
  }
}
