import {
  type PartnerAudit,
  type PartnerIdentity,
  PartnerStore,
  PartnerUnknownError,
} from '#libs/db';
import { parsePartnerId, type PartnerId } from '#libs/domain';
import { onPartner } from '../audit/audited.js';
import { partnerLabel } from '../partners/partner-reference.js';
import { Field, type FieldSpec } from './field.js';
import {
  auditedFields,
  Operation,
  type OperationContext,
  operatorOf,
  type SecondOperatorRequest,
  specOf,
} from './operation.js';

export const PARTNER = {
  type: 'uuid',
  inPath: true,
  help: 'the id of the partner',
} as const satisfies FieldSpec;

/** An operation on one partner. */
export abstract class OnPartner<Result = unknown> extends Operation<Result> {
  @Field(PARTNER) partner!: string;

  /** @throws PartnerUnknownError, and what the operation refuses */
  perform(context: OperationContext): Promise<Result> {
    const given = { partner: knownPartnerId(this.partner), arguments: this.auditedArguments() };
    return onPartner(context.database, operatorOf(this, context), given, (who, audit) =>
      this.change(context, who, audit),
    );
  }

  /** Makes the change, and writes `audit` with it. */
  protected abstract change(
    context: OperationContext,
    who: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<Result>;

  /** The arguments of the audit row besides the partner, without secrets. */
  protected auditedArguments(): object {
    return auditedFields(this);
  }

  /** @throws PartnerUnknownError */
  protected async identity({ database }: OperationContext): Promise<PartnerIdentity> {
    const found = await new PartnerStore(database).identify(knownPartnerId(this.partner));
    if (found === undefined) throw new PartnerUnknownError();
    return found;
  }

  /** @param what is changed */
  protected requestFor(who: PartnerIdentity, what = ''): SecondOperatorRequest {
    const { consequence = '' } = specOf(this);
    const change = what === '' ? '' : `${what} `;
    return {
      summary: `${partnerLabel(who)}: ${change}${consequence}`,
      shown: { partnerName: who.partnerName },
    };
  }
}

/** @throws PartnerUnknownError */
export function knownPartnerId(text: string): PartnerId {
  const id = parsePartnerId(text);
  if (id === undefined) throw new PartnerUnknownError();
  return id;
}
