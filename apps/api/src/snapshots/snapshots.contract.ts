import { contractOf, type Failure, integer } from '../http/contract.js';
import { BatchAnswer } from './batch.dto.js';
import { SnapshotsAnswer } from './snapshots.dto.js';

export const BAD_PARAMETER: Failure = ['BAD_REQUEST', 'A parameter is not as described.'];

export const INDEX_HEADERS = {
  'X-Index-Block': {
    description: 'The newest block taken into account.',
    schema: integer(0),
  },
  'X-Index-Final': {
    description:
      'true if the chain’s finality has passed the end of the window, so that no reorganisation can change the answer.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
};

export const NO_STAKE_OR_CONTRACT: Failure = [
  ['NOT_FOUND', 'CONTRACT_NOT_FOUND'],
  'NOT_FOUND: the wallet never staked; the message names it. CONTRACT_NOT_FOUND: the contract is not indexed here.',
];

const DAY_NOT_OVER: Failure = [
  'DAY_NOT_OVER',
  'Today, as endDay, is not over: Retry-After says when it is.',
];

const NOT_COVERED: Failure = [
  'SERVICE_UNAVAILABLE',
  'The index does not cover the window now, or the database does not answer.',
];

export const SnapshotsContract = contractOf({
  operationId: 'readStakingSnapshots',
  summary: 'Daily low-water marks of a wallet’s stake',
  description:
    'One snapshot for each of `lastDays` whole UTC days, oldest first, the last of them `endDay` or the day before the request: the lowest balance held at any moment of the day. Unknown query parameters are ignored. A HEAD request gets the same headers, signed with METHOD HEAD and an empty body.',
  answer: {
    description: 'The snapshots, from one consistent state of the index.',
    headers: INDEX_HEADERS,
    type: SnapshotsAnswer,
  },
  failures: {
    400: BAD_PARAMETER,
    404: NO_STAKE_OR_CONTRACT,
    409: DAY_NOT_OVER,
    503: NOT_COVERED,
  },
});

export const BatchContract = contractOf({
  operationId: 'readStakingSnapshotsBatch',
  summary: 'The same of up to 1,000 wallets at once',
  description:
    'One answer with one signature and a status for each wallet, from one state of the index. It counts as many requests as the list has entries, at least as one for each 2 KiB of the body. If the limit has no room for them, it is refused as a whole; a refused batch counts as its body does. The body of the request is not part of the signature: compare the wallet of each result with the one that you asked for. Unknown fields are ignored.',
  answer: {
    description: 'A result for each wallet, all from one consistent state of the index.',
    headers: INDEX_HEADERS,
    type: BatchAnswer,
  },
  failures: {
    400: [
      ['BAD_REQUEST', 'BATCH_TOO_LARGE'],
      'BAD_REQUEST: the body or Accept-Signature is not as described. BATCH_TOO_LARGE: more than 1,000 wallets, or more than your limit allows at once; the message says how many.',
    ],
    404: ['CONTRACT_NOT_FOUND', 'The contract is not indexed here.'],
    409: DAY_NOT_OVER,
    413: ['BAD_REQUEST', 'The body is larger than 64 KiB.'],
    415: ['BAD_REQUEST', 'The body is not application/json.'],
    429: ['RATE_LIMIT_EXCEEDED', 'The limit has no room for so many wallets now.'],
    503: NOT_COVERED,
  },
});
