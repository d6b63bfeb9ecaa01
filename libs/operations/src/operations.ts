import { AcknowledgeClaim } from './claims.js';
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
import { AcceptPrice } from './price.js';
import { AdoptRedemptions } from './redemptions/adopt.js';
import { RewrapSecrets } from './secrets/stored-secrets.js';

const OPERATIONS: readonly OperationType[] = [
  ...[CreatePartner, SetPartner, RenamePartner, PausePartner, ResumePartner],
  ...[AddCredential, RevokeCredential],
  ...[InviteMember, WithdrawInvitation, RemoveMember],
  ...[AcceptPrice, AcknowledgeClaim, AdoptRedemptions, RewrapSecrets],
];

/** What each operation leads to, by its command, for operators to read before. */
export function consequences(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    OPERATIONS.flatMap(({ spec: { command, consequence } }) =>
      consequence === undefined ? [] : [[command, consequence] as const],
    ),
  );
}
