/**
 * How people refer to a partner. What a person typed is resolved to an id once, here, before an operation begins; the
 * operation takes the id alone.
 */
import { type Database, type PartnerIdentity, PartnerStore, PartnerUnknownError } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { audited, auditedText, type Operator } from '../audit/audited.js';
import { printable } from '../text/text.js';

export class PartnerAmbiguousError extends PermanentError {
  constructor(partners: readonly PartnerIdentity[]) {
    const both = partners.map((partner) => `“${partnerLabel(partner)}”`).join(' and ');
    super(
      'PARTNER_AMBIGUOUS',
      `This is the name of one partner and the id of another: ${both}. Give what only the one you mean has.`,
    );
  }
}

/** Name and id, for people: `My Game, 3e6f0d9a-…`. */
export function partnerLabel({ partnerId, partnerName }: PartnerIdentity): string {
  return `${printable(partnerName)}, ${partnerId}`;
}

/**
 * The partner that a person named by its name, in any capitals, or by its id.
 * @throws PartnerUnknownError; PartnerAmbiguousError if the text is the name of one partner and the id of another
 */
export async function resolvePartner(
  database: Database,
  reference: string,
): Promise<PartnerIdentity> {
  const [partner, ...others] = await new PartnerStore(database).findNamed(reference);
  if (partner === undefined) throw new PartnerUnknownError();
  if (others.length > 0) throw new PartnerAmbiguousError([partner, ...others]);
  return partner;
}

/** `resolvePartner` for a command that changes something: a refusal gets the audit row of the command. */
export function resolveAudited(
  database: Database,
  operator: Operator,
  reference: string,
): Promise<PartnerIdentity> {
  const attempted = { ...operator, arguments: { partner: auditedText(reference) } };
  return audited(database, attempted, {}, () => resolvePartner(database, reference));
}
