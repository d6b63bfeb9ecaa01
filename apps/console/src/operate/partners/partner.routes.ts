/** The routes of the operations on partners. */
import {
  AddCredential,
  CreatePartner,
  InviteMember,
  PausePartner,
  PingPartner,
  RemoveMember,
  ResumePartner,
  RevokeCredential,
  SetPartner,
  WithdrawInvitation,
} from '#libs/operations';
import { routeOf } from '../operation/operation-routes.js';
import { InvitedBody } from './members.controller.js';
import {
  issuedBody,
  IssuedBody,
  PartnerBody,
  PingBody,
  pingBody,
  RevokedBody,
} from './partner.bodies.js';

const MALFORMED = [400, 'The request is malformed; `field` says where.', 'BAD_REQUEST'] as const;
const UNFIT = [
  ...[400, 'The request is malformed, or does not fit together.'],
  ...['BAD_REQUEST', 'OPTION_INVALID'],
] as const;
const NO_PARTNER = [404, 'There is no such partner.', 'PARTNER_UNKNOWN'] as const;
const ASKED = 'Done, or asked of a second operator.';

export const PARTNER_ROUTES = [
  routeOf(CreatePartner, {
    path: 'partners',
    summary: 'Create a partner',
    description: 'With its first credential, which no other answer shows again.',
    status: 201,
    answer: 'The credential.',
    type: IssuedBody,
    bodyOf: ({ issued }) => issuedBody(issued),
    fails: [
      UNFIT,
      [409, 'It cannot be created so.', 'PARTNER_EXISTS', 'ALREADY_DONE', 'APPROVAL_NEEDED'],
    ],
  }),
  routeOf(SetPartner, {
    path: 'partners/:partner/settings',
    summary: 'Set a partner',
    description:
      'What is absent stays as it is. A change of the callback waits for a second operator where there is a set value, but for one that only lowers the daily budget.',
    answer: ASKED,
    fails: [UNFIT, NO_PARTNER, [409, 'It is asked for already.', 'APPROVAL_PENDING']],
  }),
  routeOf(PingPartner, {
    path: 'partners/:partner/ping',
    summary: 'Read a balance now',
    description: 'As the service would; the report says what to mend. Changes nothing.',
    answer: 'What came of it.',
    type: PingBody,
    bodyOf: pingBody,
    fails: [MALFORMED, NO_PARTNER, [409, 'It has no callback.', 'PARTNER_MISSING']],
  }),
  routeOf(PausePartner, {
    path: 'partners/:partner/pause',
    summary: 'Take no new redemptions',
    description: 'The kill switch.',
    answer: 'The partner.',
    type: PartnerBody,
    bodyOf: ({ partnerId }, views) => views.partner(partnerId),
    fails: [NO_PARTNER, [409, 'It has no callback.', 'PARTNER_MISSING']],
  }),
  routeOf(ResumePartner, {
    path: 'partners/:partner/resume',
    summary: 'Take redemptions again',
    description: 'The end of a pause; by a second operator where there is a set value.',
    answer: ASKED,
    fails: [
      MALFORMED,
      NO_PARTNER,
      [
        ...[409, 'It has no callback, or is asked for already.'],
        ...['PARTNER_MISSING', 'APPROVAL_PENDING'],
      ] as const,
    ],
  }),
  routeOf(AddCredential, {
    path: 'partners/:partner/credentials',
    summary: 'Add a credential',
    description:
      'The old ones work until they are revoked. No other answer shows its secret again.',
    status: 201,
    answer: 'The credential.',
    type: IssuedBody,
    bodyOf: issuedBody,
    fails: [NO_PARTNER, [409, 'This request has added its credential already.', 'ALREADY_DONE']],
  }),
  routeOf(RevokeCredential, {
    path: 'partners/:partner/credentials/revoke',
    summary: 'Revoke a credential',
    description: 'The last active one only with `force`.',
    answer: 'It is refused from now on, within seconds.',
    type: RevokedBody,
    bodyOf: ({ keyPrefix, left }) => ({ keyPrefix, left }),
    fails: [
      MALFORMED,
      [404, 'There is none.', 'PARTNER_UNKNOWN', 'CREDENTIAL_MISSING'],
      [409, 'Not so.', 'CREDENTIAL_AMBIGUOUS', 'LAST_CREDENTIAL'],
    ],
  }),
  routeOf(InviteMember, {
    path: 'partners/:partner/invitations',
    summary: 'Invite a person',
    description: 'By a link that no other answer shows again: it makes one person a member.',
    status: 201,
    answer: 'The link.',
    type: InvitedBody,
    bodyOf: ({ url, expiresAt }) => ({ url, expiresAt }),
    fails: [MALFORMED, NO_PARTNER],
  }),
  routeOf(WithdrawInvitation, {
    path: 'partners/:partner/invitations/:invitation/withdraw',
    summary: 'Withdraw an invitation',
    description: 'One that is still open.',
    answer: 'Its link can no longer be used.',
    fails: [
      [
        ...[404, 'There is no such partner, or no such invitation that is open.'],
        ...['NOT_FOUND', 'PARTNER_UNKNOWN'],
      ] as const,
    ],
  }),
  routeOf(RemoveMember, {
    path: 'partners/:partner/members/remove',
    summary: 'Remove a member',
    description: 'Ends the person’s sessions for it.',
    answer: 'No longer a member.',
    fails: [
      MALFORMED,
      [404, 'There is no such partner, or no such member.', 'NOT_FOUND', 'PARTNER_UNKNOWN'],
    ],
  }),
];
