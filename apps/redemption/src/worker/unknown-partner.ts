import { type PartnerPolicy } from '#libs/domain';

/** What is assumed of a partner that cannot be looked up: nothing that proves anything, and that it is owed its confirmation. */
export const UNKNOWN_PARTNER: PartnerPolicy = { capabilities: [], confirms: true };
