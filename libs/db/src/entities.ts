import { AuditRunEntity } from './index-store/audit-run.js';
import { CallbackEntity } from './partners/callback.entity.js';
import { CredentialEntity } from './partners/credential.entity.js';
import { PartnerEntity } from './partners/partner.entity.js';
import { PriceAcceptanceEntity, PriceEntity } from './prices/price.js';
import { CommandEntity } from './redemption/command.entity.js';
import { SessionEntity } from './redemption/session.entity.js';
import { StakeSetEntity } from './stake-sets/stake-set.js';

/**
 * Tables that are read and written as entities. SQL for all other tables is in the file that uses it;
 * schema.int-spec.ts lists them.
 */
export const entities = [
  AuditRunEntity,
  CallbackEntity,
  CommandEntity,
  CredentialEntity,
  PartnerEntity,
  PriceAcceptanceEntity,
  PriceEntity,
  SessionEntity,
  StakeSetEntity,
];
