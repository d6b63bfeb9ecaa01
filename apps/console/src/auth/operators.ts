import { createHash } from 'node:crypto';
import { type OperatorRole, type Person } from '#libs/db';
import { parseAddress } from '#libs/domain';
import { type ConsoleSettings } from '../console.env.js';
import { highestOf } from './operator-roles.js';

const WALLET = 'wallet:';
const OIDC = 'oidc:';

/** Subject of the person who holds a wallet. @param wallet in lower case */
export function walletSubject(wallet: string): string {
  return `${WALLET}${wallet}`;
}

export function isWalletSubject(subject: string): boolean {
  return subject.startsWith(WALLET);
}

/**
 * Subject of the person whom the issuer names `sub`. A name with white space or control characters, which the database
 * does not take in a subject, is percent-encoded behind a percent sign; any other is kept as it is.
 */
export function oidcSubject(issuer: string, sub: string): string {
  const kept = NEEDS_ENCODING.test(sub)
    ? `%${encodeURIComponent(Buffer.from(sub).toString())}`
    : sub;
  return `${OIDC}${issuer}|${kept}`;
}

/** Names that begin with a percent sign are encoded too, so that no two persons get the same subject. */
const NEEDS_ENCODING = /^%|[\s\p{Z}\p{C}]/u;

/**
 * The role of an operator by the current settings; undefined where the person is not an operator any more.
 * Only the issuer knows the members of a group, so a change of membership counts from the next sign-in. A role from
 * OpenID Connect ends earlier where no group has the role any more or the issuer is another.
 * @param roleThen role at the newest sign-in; undefined where it gave none, or is not known
 */
export function roleNow(
  subject: string,
  roleThen: OperatorRole | undefined,
  { operators, oidcIssuer, oidcRoles }: ConsoleSettings,
): OperatorRole | undefined {
  if (isWalletSubject(subject)) {
    const wallet = parseAddress(subject.slice(WALLET.length));
    return wallet && operators?.get(wallet);
  }
  if (subject.startsWith(OIDC)) {
    const isIssuers = oidcIssuer !== undefined && subject.startsWith(oidcSubject(oidcIssuer, ''));
    return roleThen && isIssuers && [...(oidcRoles?.values() ?? [])].includes(roleThen)
      ? roleThen
      : undefined;
  }
  return roleThen;
}

type Claims = Readonly<Record<string, unknown>>;

/** The value of a claim, which may lie in another one: `realm_access.roles` (Keycloak). */
export function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  const outer = Object.keys(claims).find((key) => name.startsWith(`${key}.`));
  const inner = outer === undefined ? undefined : claims[outer];
  return isObject(inner) ? claimOf(inner, name.slice(`${outer}.`.length)) : undefined;
}

function keysThatHold(claim: Claims): string[] {
  return Object.keys(claim).filter((key) => Boolean(claim[key]));
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The highest role of the groups, which are a list, a single name, or the keys of an object (Zitadel), but for those
 * whose value is false or null.
 * @param claims of the ID token
 */
export function roleOfGroups(
  claims: Claims,
  { oidcGroupsClaim, oidcRoles }: ConsoleSettings,
): OperatorRole | undefined {
  const claim = claimOf(claims, oidcGroupsClaim);
  const groups: unknown[] = isObject(claim) ? keysThatHold(claim) : [claim].flat();
  return highestOf(
    groups.flatMap((group) => (typeof group === 'string' ? (oidcRoles?.get(group) ?? []) : [])),
  );
}

/**
 * Whether the issuer left the groups out of the token because they are too many. It then names where they are
 * (`_claim_names`, OpenID Connect Core 1.0, section 5.6.2), or sets `hasgroups` in place of `groups` (Microsoft Entra).
 * @param claims of the ID token
 */
export function groupsLeftOut(claims: Claims, { oidcGroupsClaim }: ConsoleSettings): boolean {
  if (claimOf(claims, oidcGroupsClaim) !== undefined) return false;
  const { _claim_names: elsewhere, hasgroups } = claims;
  const isElsewhere =
    typeof elsewhere === 'object' &&
    elsewhere !== null &&
    Object.hasOwn(elsewhere, oidcGroupsClaim);
  return isElsewhere || (oidcGroupsClaim === 'groups' && String(hasgroups) === 'true');
}

const LONGEST_NAME = 64;

/** Name in the audit log and the timeline. */
export function actorOf(person: Person): string {
  return `operator:${distinctName(person)}`;
}

/** The name of a person to others. A digest of the subject keeps apart persons who chose the same name. */
export function distinctName({ subject, name }: Person): string {
  if (isWalletSubject(subject)) return subject.slice(WALLET.length);
  const digest = createHash('sha256').update(subject).digest('hex').slice(0, 8);
  const shown = name.replaceAll(/[^A-Za-z0-9._@+-]/g, '_').slice(0, LONGEST_NAME - 9);
  return `${shown}.${digest}`;
}
