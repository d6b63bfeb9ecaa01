import { AcceptPrice } from '#libs/operations';
import { routeOf } from '../operation/operation-routes.js';

export const PRICE_ROUTES = [
  routeOf(AcceptPrice, {
    path: 'prices/accept',
    summary: 'Accept a held price',
    description:
      'Redemptions and snapshots go on with the next reading near it, within a minute. Waits for a second operator if APPROVAL_ABOVE_USD is set.',
    answer: 'Done, or asked of a second operator.',
    fails: [
      [400, 'The request is malformed; `field` says where.', 'BAD_REQUEST'],
      [404, 'There is no such stake set.', 'STAKE_SET_UNKNOWN'],
      [
        ...[409, 'No price is held, or one that is not near; or it is asked for already.'],
        ...['PRICE_NOT_HELD', 'PRICE_MOVED', 'APPROVAL_PENDING'],
      ] as const,
    ],
  }),
];
