import { AcknowledgeClaim } from '#libs/operations';
import { routeOf } from '../operation/operation-routes.js';
import { AcknowledgedBody } from './reconciliation.dto.js';

export const CLAIM_ROUTES = [
  routeOf(AcknowledgeClaim, {
    path: 'reconciliation/claims/:id/acknowledge',
    summary: 'Take a claim out of the alerts',
    description: AcknowledgeClaim.spec.consequence,
    answer: 'It is acknowledged.',
    type: AcknowledgedBody,
    bodyOf: (claims) => ({ claims }),
    fails: [
      [400, 'The request is malformed; `field` says where.', 'BAD_REQUEST'],
      [404, 'No such claim waits for an explanation.', 'CLAIM_NOT_FOUND'],
    ],
  }),
];
