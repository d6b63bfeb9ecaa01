/** The standing in which a person acts on the web pages: as an operator or for a partner. */
export type OperatorRole = 'viewer' | 'operator' | 'admin';

export type Standing =
  | { readonly kind: 'operator'; readonly role: OperatorRole }
  | { readonly kind: 'partner'; readonly partnerId: PartnerId };

/** `subject` is `wallet:0x…` in lower case, `oidc:ISSUER|SUB` or `link:NAME`. `name` is shown to people. */
export interface Person {
  readonly subject: string;
  readonly name: string;
}

/** A standing in a table with the columns kind, role and partner. */
export interface StandingRow {
  readonly kind: Standing['kind'];
  readonly role: OperatorRole | null;
  readonly partner: PartnerId | null;
}

export function standingRow(standing: Standing): StandingRow {
  return standing.kind === 'operator'
    ? { kind: 'operator', role: standing.role, partner: null }
    : { kind: 'partner', role: null, partner: standing.partnerId };
}

export function standingOf({ role, partner }: StandingRow): Standing {
  if (role !== null) return { kind: 'operator', role };
  if (partner !== null) return { kind: 'partner', partnerId: partner };
  throw new TypeError('a row has a role or a partner, by its CHECK');
}
import { type PartnerId } from '#libs/domain';
