/** Adoption: open redemptions from before EVIDENCE_KEY was set get their MAC, once an operator has looked at them. */
import {
  CallbackStore,
  type Database,
  EvidenceAdoption,
  type EvidenceSeal,
  type StoredRedemption,
} from '#libs/db';
import { isUnheldAddress } from '#libs/domain';
import { Field } from '../operation/field.js';
import {
  Operation,
  type OperationContext,
  type SecondOperatorRequest,
} from '../operation/operation.js';
import { REASON } from '../operation/page-fields.js';
import { type ListedRedemption } from './find.js';
import { evidenceOf, VERSION } from './redemption-operations.js';

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

export class SeenRedemption {
  @Field({ type: 'uuid', help: 'its id', required: true }) readonly id!: string;
  @Field(VERSION) readonly version!: number;
}

export interface Adopted {
  readonly adopted: number;
  /** Those whose wallet has no key: it has redeemed nothing, so another program wrote the row. */
  readonly unheld: readonly string[];
}

/**
 * Gives each redemption that is still as the operator saw it its MAC, with an audit row. Needs a second operator if
 * APPROVAL_ABOVE_USD is set: the worth in a row without a MAC cannot be trusted as a bound.
 */
export class AdoptRedemptions extends Operation<Adopted> {
  static readonly spec = {
    command: 'redemption adopt',
    description: 'vouch for open redemptions that were written without EVIDENCE_KEY',
    consequence:
      'Each of these can be paid, or its deduction reverted as it is named, once it is adopted.',
    role: 'admin',
    isFresh: true,
    mayNeedSecond: true,
    isConfirmed: true,
    needs: 'evidenceKey',
  } as const;

  @Field({
    type: 'list',
    help: 'as they were seen',
    of: () => SeenRedemption,
    ...{ most: 100, required: true, isStored: true },
  })
  readonly redemptions!: readonly SeenRedemption[];

  @Field(REASON) readonly reason?: string;

  override forSecondOperator(context: OperationContext): Promise<SecondOperatorRequest> {
    evidenceOf(context, AdoptRedemptions.spec.command);
    const { consequence } = AdoptRedemptions.spec;
    const summary = `Redemptions without a MAC: ${this.redemptions.length}. ${consequence}`;
    return Promise.resolve({ summary });
  }

  async perform(context: OperationContext): Promise<Adopted> {
    const { database, actor, approvedBy } = context;
    const seal = evidenceOf(context, AdoptRedemptions.spec.command);
    const seen = new Map(this.redemptions.map(({ id, version }) => [id, version]));
    const foreign = (await redemptionsWithoutMac(database, seal)).filter(
      ({ redemption: { id, version } }) => seen.get(id) === version,
    );
    const isUnheld = ({ redemption }: RedemptionWithoutMac) => isUnheldAddress(redemption.wallet);
    const adoption = new EvidenceAdoption(database, seal);
    let adopted = 0;
    for (const one of foreign) {
      if (!isUnheld(one) && (await adoption.adopt(one.stored, { actor, approvedBy }))) adopted += 1;
    }
    return { adopted, unheld: foreign.filter(isUnheld).map(({ redemption: { id } }) => id) };
  }

  override outcomeOf({ adopted }: Adopted): string {
    return `Adopted: ${adopted}. Redemptions that have changed since they were shown, or whose wallet has no holder, stay as they were.`;
  }
}
