import { CallbackEntity } from '../partners/callback.entity.js';
import { CredentialEntity } from '../partners/credential.entity.js';
import { PartnerEntity } from '../partners/partner.entity.js';
import { StakeSetEntity } from '../connection/stake-set.js';

/**
 * Tables that are read and written as entities: what operators set for partners. SQL for all other tables is in the
 * file that uses it.
 */
export const entities = [CallbackEntity, CredentialEntity, PartnerEntity, StakeSetEntity];
