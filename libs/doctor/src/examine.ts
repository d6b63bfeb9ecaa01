import { type SettingsSource } from '#libs/config';
import { type Clock } from '#libs/platform';
import { type Check, type Finding, makeChecks } from './checks.js';
import { databaseChecks } from './database.checks.js';
import { type ReadDoctorSettings, readDoctorSettings } from './doctor.settings.js';
import { endpointChecks } from './endpoint.checks.js';
import { indexCheck } from './index.check.js';
import { ledgerCheck } from './ledger.check.js';
import { evidenceCheck, partnerChecks, secretsCheck } from './partner.checks.js';
import { priceChecks } from './price.checks.js';
import { redisCheck } from './redis.check.js';
import { registryCheck } from './registry.check.js';
import { settingsChecks } from './settings.checks.js';
import { stakeSetsCheck } from './stake-sets.check.js';
import { stakingChecks } from './staking.checks.js';
import { Subject } from './subject.js';
import { trialChecks } from './trial.checks.js';
import { vaultCheck } from './vault.check.js';

/** Time limit of one check; requests to nodes and databases have shorter timeouts of their own. */
const TIMEOUT_MS = 45_000;

export interface ExamineOptions {
  /** Time limit of one check, in milliseconds; they run at the same time. */
  readonly timeoutMs?: number;
  /** Called every two seconds with the titles of the checks in progress. */
  readonly onWaiting?: (titles: readonly string[]) => void;
}

/**
 * Examines everything that the services need, by their settings, and names remedies; changes nothing. Missing settings
 * are reported as not checked.
 * @returns the findings in the order of the report
 */
export async function examine(
  source: SettingsSource,
  clock: Clock,
  { timeoutMs = TIMEOUT_MS, onWaiting }: ExamineOptions = {},
): Promise<Finding[]> {
  const read = readDoctorSettings(source);
  const subject = new Subject(read.settings, clock);
  const options = { faulty: read.faults, timeoutMs, onWaiting };
  try {
    return await makeChecks(checksFor(read), subject, options);
  } finally {
    await subject.close();
  }
}

/** All checks, in the order of the report. */
function checksFor(read: ReadDoctorSettings): readonly Check[] {
  return [
    ...settingsChecks(read),
    ...databaseChecks,
    secretsCheck,
    ...(read.settings.evidenceKey === undefined ? [] : [evidenceCheck]),
    ledgerCheck,
    indexCheck,
    stakeSetsCheck,
    ...priceChecks,
    ...partnerChecks,
    ...trialChecks,
    redisCheck,
    ...endpointChecks(read.settings),
    ...stakingChecks,
    vaultCheck,
    ...(read.settings.registryAddress === undefined ? [] : [registryCheck]),
  ];
}
