import { address, commaList } from '#libs/config';
import { type OperatorRole } from '#libs/db';
import { type Address, isUnheldAddress } from '#libs/domain';

/** Roles of operators, lowest first. Each role includes the rights of the lower ones. */
export const OPERATOR_ROLES: readonly OperatorRole[] = ['viewer', 'operator', 'admin'];

export function mayActAs(role: OperatorRole, needed: OperatorRole): boolean {
  return OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed);
}

export function highestOf(roles: readonly OperatorRole[]): OperatorRole | undefined {
  return OPERATOR_ROLES.findLast((role) => roles.includes(role));
}

/** Parses OPERATORS. @throws Error that says what is expected */
export function operatorWallets(text: string): ReadonlyMap<Address, OperatorRole> {
  return rolesOf(text, { keyOf: heldAddress, entry: '0x…=ROLE' });
}

function heldAddress(text: string): Address {
  const wallet = address(text);
  if (isUnheldAddress(wallet))
    throw new Error(`must be wallets of people: ${wallet} has no holder`);
  return wallet;
}

/**
 * Parses OIDC_ROLES: a list, or a JSON object for names with commas, such as the distinguished names of LDAP.
 * @throws Error that says what is expected
 */
export function groupRoles(text: string): ReadonlyMap<string, OperatorRole> {
  return text.trimStart().startsWith('{')
    ? rolesOfObject(text)
    : rolesOf(text, { keyOf: (group) => group, entry: 'GROUP=ROLE' });
}

function rolesOfObject(text: string): ReadonlyMap<string, OperatorRole> {
  const roles = Object.entries(parsedObject(text)).map(([group, value], index) => {
    const role = OPERATOR_ROLES.find((one) => one === value);
    if (role === undefined) throw new Error(`${OBJECT_EXPECTED}: entry ${index + 1} is not`);
    return [group, role] as const;
  });
  if (roles.length === 0) throw new Error(`${OBJECT_EXPECTED}: it is empty`);
  return new Map(roles);
}

const OBJECT_EXPECTED = `must be a JSON object {"GROUP":"ROLE"}, where a role is one of ${OPERATOR_ROLES.join(', ')}`;

function parsedObject(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    throw new Error(`${OBJECT_EXPECTED}: it is not JSON`);
  }
}

interface RoleList<K> {
  readonly keyOf: (name: string) => K;
  /** Format of an entry, for error messages. */
  readonly entry: string;
}

function rolesOf<K>(text: string, { keyOf, entry }: RoleList<K>): ReadonlyMap<K, OperatorRole> {
  const roles = new Map<K, OperatorRole>();
  for (const [index, part] of commaList(text).entries()) {
    // The name of a group may contain an equals sign, so the last one separates the role.
    const at = part.lastIndexOf('=');
    const role = OPERATOR_ROLES.find((one) => one === part.slice(at + 1).trim());
    const which = `entry ${index + 1}`;
    if (at < 1 || role === undefined) {
      throw new Error(
        `must be a list of ${entry}, where a role is one of ${OPERATOR_ROLES.join(', ')}: ${which} is not`,
      );
    }
    const key = keyOf(part.slice(0, at).trim());
    if (roles.has(key)) throw new Error(`must name each only once: ${which} is there before`);
    roles.set(key, role);
  }
  return roles;
}
