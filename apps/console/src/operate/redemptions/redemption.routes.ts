import {
  AdoptRedemptions,
  CancelRedemption,
  type Operated,
  type Operation,
  type OperationType,
  ReplayConfirmation,
  ResolveRedemption,
  RetryRedemption,
  SetPartnerTransaction,
} from '#libs/operations';
import { routeOf } from '../operation/operation-routes.js';

const ANSWER = 'Done, or asked of a second operator.';
const MALFORMED = [400, 'The request is malformed; `field` says where.', 'BAD_REQUEST'] as const;

/** What its state allows, as long as it is as it was seen. */
function actionRoute<T extends Operation<Operated>>(
  type: OperationType<T>,
  summary: string,
  ...codes: readonly string[]
) {
  return routeOf(type, {
    path: `redemptions/:id/${type.spec.command.split(' ')[1] ?? ''}`,
    summary,
    description:
      'If its state allows it and it is as it was seen; from APPROVAL_ABOVE_USD on once another operator has approved it.',
    answer: ANSWER,
    fails: [
      MALFORMED,
      [404, 'There is no such redemption.', 'REDEMPTION_MISSING'],
      [
        409,
        'Refused: by the rules of its state (then `code` is the rule), or it has changed.',
        ...['VIEW_OUTDATED', 'APPROVAL_PENDING', 'REDEMPTION_STALE', ...codes],
      ],
    ],
  });
}

export const REDEMPTION_ROUTES = [
  actionRoute(RetryRedemption, 'Let the service go on with it now'),
  actionRoute(CancelRedemption, 'Cancel it'),
  actionRoute(SetPartnerTransaction, 'Give the transaction id of the partner', 'PARTNER_ID_REUSED'),
  actionRoute(ResolveRedemption, 'End it by what the partner has told you'),
  actionRoute(
    ReplayConfirmation,
    'Send its confirmation again',
    ...['NO_CONFIRMATION', 'STILL_TRYING'],
  ),
  routeOf(AdoptRedemptions, {
    path: 'unsealed-redemptions/adopt',
    summary: 'Adopt open redemptions without the MAC of the service',
    description:
      'Those that are as they were seen; once another operator has approved it if APPROVAL_ABOVE_USD is set.',
    answer: ANSWER,
    fails: [MALFORMED, [409, 'It is asked for already.', 'APPROVAL_PENDING']],
  }),
];
