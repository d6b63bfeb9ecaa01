/** Adoption: open redemptions from before EVIDENCE_KEY was set get their MAC, once a person has looked at them. */
import {
  CallbackStore,
  type Database,
  EvidenceAdoption,
  type EvidenceSeal,
  type StoredRedemption,
} from '#libs/db';
import { isUnheldAddress } from '#libs/domain';
import { type Operator } from '../audit/audited.js';
import { type ListedRedemption } from './find.js';

export interface RedemptionWithoutMac extends ListedRedemption {
  readonly stored: StoredRedemption;
}

/** Open redemptions that do not bear the MAC of the service. */
export async function redemptionsWithoutMac(
  database: Database,
  seal: EvidenceSeal,
): Promise<RedemptionWithoutMac[]> {
  const foreign = await new EvidenceAdoption(database, seal).foreign();
  if (foreign.length === 0) return [];
  // The names come from the callbacks, which the database user of the redemption service may read as well.
  const callbacks = await new CallbackStore(database).list();
  const names = new Map(callbacks.map(({ partnerId, partnerName }) => [partnerId, partnerName]));
  return foreign.map((stored) => {
    const { redemption } = stored;
    const partnerName = names.get(redemption.partner) ?? redemption.partner;
    return { stored, redemption, partnerName };
  });
}

/** Whether a redemption can be adopted: a wallet without a key has redeemed nothing, so another hand wrote its row. */
export function isAdoptable({ redemption }: RedemptionWithoutMac): boolean {
  return !isUnheldAddress(redemption.wallet);
}

/**
 * Gives each redemption its MAC as it was read, with an audit row. A redemption that has changed since, or that cannot
 * be adopted, is left as it is.
 * @returns how many were adopted
 */
export async function adoptRedemptions(
  database: Database,
  seal: EvidenceSeal,
  foreign: readonly RedemptionWithoutMac[],
  by: Pick<Operator, 'actor' | 'approvedBy'>,
): Promise<number> {
  const adoption = new EvidenceAdoption(database, seal);
  let adopted = 0;
  for (const { stored } of foreign.filter(isAdoptable)) {
    if (await adoption.adopt(stored, by)) adopted += 1;
  }
  return adopted;
}
