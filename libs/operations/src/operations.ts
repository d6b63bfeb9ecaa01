import { InviteMember, RemoveMember, WithdrawInvitation } from './console/invitations.js';
import { type OperationType } from './operation/operation.js';
import { AddCredential, RevokeCredential } from './partners/credentials.js';
import {
  CreatePartner,
  PausePartner,
  RenamePartner,
  ResumePartner,
  SetPartner,
} from './partners/partners.js';

const OPERATIONS: readonly OperationType[] = [
  ...[CreatePartner, SetPartner, RenamePartner, PausePartner, ResumePartner],
  ...[AddCredential, RevokeCredential],
  ...[InviteMember, WithdrawInvitation, RemoveMember],
];

/** What each operation leads to, by its command, for operators to read before. */
export function consequences(): Readonly<Record<string, string>> {
  const told = OPERATIONS.flatMap(({ spec: { command, consequence } }) =>
    consequence === undefined ? [] : [[command, consequence] as const],
  );
  return { ...Object.fromEntries(told), ...CONSEQUENCES };
}

/** Of operations that have no class. */
export const CONSEQUENCES = {
  'redemption adopt':
    'Each of these can be paid, or its deduction reverted as it is named, once it is adopted.',
  'reconciliation acknowledge':
    'The claim is no alert any more once the next reconciliation was made, within the hour; it stays in the list, with the note.',
  'price accept':
    'Redemptions and snapshots go on with the next reading near this figure, within a minute; one that is not near it stays held.',
  'secrets rewrap': 'Every stored secret is sealed again under the first key of SECRETS_KEY.',
} as const;
