import { createHash } from 'node:crypto';
import { type OperatorRole, type Person } from '#libs/db';
import { parseAddress } from '#libs/domain';
import { type ConsoleSettings } from '../console.env.js';
import { highestOf } from './operator-roles.js';

const WALLET = 'wallet:';
const OIDC = 'oidc:';

/** The person who holds a wallet. @param wallet in lower case */
export function walletSubject(wallet: string): string {
  return `${WALLET}${wallet}`;
}

export function oidcSubject(issuer: string, sub: string): string {
  return `${OIDC}${issuer}|${sub}`;
}

/**
 * What an operator may do by the settings of now; undefined where nothing any more. Of a group only the issuer says who is in it, at
 * the next sign-in; here its role is gone where no group has it any more.
 * @param roleThen at the sign-in
 */
export function roleNow(
  subject: string,
  roleThen: OperatorRole,
  { operators, oidcIssuer, oidcRoles }: ConsoleSettings,
): OperatorRole | undefined {
  if (subject.startsWith(WALLET)) {
    const wallet = parseAddress(subject.slice(WALLET.length));
    return wallet && operators?.get(wallet);
  }
  if (subject.startsWith(OIDC)) {
    const isIssuers = oidcIssuer !== undefined && subject.startsWith(oidcSubject(oidcIssuer, ''));
    return isIssuers && [...(oidcRoles?.values() ?? [])].includes(roleThen) ? roleThen : undefined;
  }
  return roleThen;
}

/** @param claim of the groups, whatever the issuer sent */
export function roleOfGroups(
  claim: unknown,
  { oidcRoles }: ConsoleSettings,
): OperatorRole | undefined {
  const groups = (Array.isArray(claim) ? claim : [claim]) as unknown[];
  return highestOf(
    groups.flatMap((group) => (typeof group === 'string' ? (oidcRoles?.get(group) ?? []) : [])),
  );
}

const LONGEST_NAME = 64;

/** As the audit and the timeline name the person: unlike any other, whatever name they gave themselves. */
export function actorOf({ subject, name }: Person): string {
  if (subject.startsWith(WALLET)) return `operator:${subject.slice(WALLET.length)}`;
  const digest = createHash('sha256').update(subject).digest('hex').slice(0, 8);
  const shown = name.replaceAll(/[^A-Za-z0-9._@+-]/g, '_').slice(0, LONGEST_NAME - 9);
  return `operator:${shown}.${digest}`;
}
