import { type ConsoleBody } from '../api/console-client';

type Credential = Pick<
  ConsoleBody<'OwnCredential'>,
  'keyPrefix' | 'createdAt' | 'isActive' | 'endsAt'
>;

export interface CredentialChoices {
  readonly canReplace: boolean;
  readonly canRevoke: boolean;
  /** Whether no other active credential without an end exists; revoking this one needs a second confirmation. */
  readonly isLast: boolean;
}

/**
 * The actions on a credential, given all of the partner's. A replaced credential ends by itself, so it does not count
 * as a remaining one.
 */
export function choicesOf(one: Credential, all: readonly Credential[]): CredentialChoices {
  const isOther = (other: Credential) =>
    other.keyPrefix !== one.keyPrefix || other.createdAt !== one.createdAt;
  const isLast = !all.some((other) => isOther(other) && lasts(other));
  return {
    canReplace: one.isActive && (one.endsAt === null || isLast),
    canRevoke: one.isActive,
    isLast,
  };
}

function lasts({ isActive, endsAt }: Credential): boolean {
  return isActive && endsAt === null;
}
