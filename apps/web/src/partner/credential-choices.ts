import { type ConsoleBody } from '../api/console-client';

type Credential = Pick<
  ConsoleBody<'OwnCredential'>,
  'keyPrefix' | 'createdAt' | 'isActive' | 'endsAt'
>;

export interface CredentialChoices {
  readonly canReplace: boolean;
  readonly canRevoke: boolean;
  /** Without it none is left that lasts: revoking is asked for twice. */
  readonly isLast: boolean;
}

/** What can be done with a credential, among all of the partner. One that was replaced ends by itself: none relies on it. */
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
