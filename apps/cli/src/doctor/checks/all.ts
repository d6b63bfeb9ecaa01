import { type Check } from '../check.js';
import { type ReadDoctorSettings } from '../doctor.settings.js';
import { claimsCheck } from './claims.check.js';
import { databaseCheck } from './database.check.js';
import { endpointChecks } from './endpoint.check.js';
import { indexCheck } from './index.check.js';
import { partnersCheck } from './partners.check.js';
import { priceCheck } from './price.check.js';
import { priceHoldCheck } from './price-hold.check.js';
import { priceSourceCheck } from './price-source.check.js';
import { productionCheck } from './production.check.js';
import { providersCheck } from './providers.check.js';
import { redisCheck } from './redis.check.js';
import { rightsCheck } from './rights.check.js';
import { schemaCheck } from './schema.check.js';
import { secretsCheck } from './secrets.check.js';
import { settingsCheck } from './settings.check.js';
import { stakingCheck } from './staking.check.js';
import { tokenCheck } from './token.check.js';
import { vaultCheck } from './vault.check.js';
import { verificationCheck } from './verification.check.js';

/** All that the doctor looks at, in the order of the report. */
export function checksFor(read: ReadDoctorSettings): readonly Check[] {
  return [
    settingsCheck(read),
    productionCheck,
    databaseCheck,
    schemaCheck,
    rightsCheck,
    secretsCheck,
    indexCheck,
    priceSourceCheck,
    priceCheck,
    priceHoldCheck,
    partnersCheck,
    claimsCheck,
    redisCheck,
    ...endpointChecks(read.settings),
    providersCheck,
    stakingCheck,
    verificationCheck,
    tokenCheck,
    vaultCheck,
  ];
}
