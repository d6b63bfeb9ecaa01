import { address, commaList } from '#libs/config';
import { type OperatorRole } from '#libs/db';
import { type Address } from '#libs/domain';

/** What operators may do, the least first: each may also do what those before it may. */
export const OPERATOR_ROLES: readonly OperatorRole[] = ['viewer', 'operator', 'admin'];

export function mayActAs(role: OperatorRole, needed: OperatorRole): boolean {
  return OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed);
}

export function highestOf(roles: readonly OperatorRole[]): OperatorRole | undefined {
  return OPERATOR_ROLES.findLast((role) => roles.includes(role));
}

/** OPERATORS. @throws Error that says what is expected */
export function operatorWallets(text: string): ReadonlyMap<Address, OperatorRole> {
  return rolesOf(text, { keyOf: address, entry: '0x…=ROLE' });
}

/** OIDC_ROLES. @throws Error that says what is expected */
export function groupRoles(text: string): ReadonlyMap<string, OperatorRole> {
  return rolesOf(text, { keyOf: (group) => group, entry: 'GROUP=ROLE' });
}

interface RoleList<K> {
  readonly keyOf: (name: string) => K;
  /** What an entry looks like. */
  readonly entry: string;
}

function rolesOf<K>(text: string, { keyOf, entry }: RoleList<K>): ReadonlyMap<K, OperatorRole> {
  const roles = new Map<K, OperatorRole>();
  for (const [index, part] of commaList(text).entries()) {
    // A group's name may have an equals sign.
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
