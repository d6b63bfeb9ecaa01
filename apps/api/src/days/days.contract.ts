/** What the contract says of the routes of sealed days. */
import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { COMMON_HEADERS } from '../http/common-headers.js';
import { ACCEPT_SIGNATURE, failure, RETRY_AFTER } from '../snapshots/snapshots.contract.js';
import { DayProofAnswer, SealedDayOfSetAnswer, SealedDaysAnswer } from './days.dto.js';

const CONTRACT = ApiQuery({
  name: 'contract',
  required: false,
  description: 'The staking contract that is meant, as for the snapshots.',
  schema: { type: 'string', pattern: '^eip155:[1-9][0-9]{0,15}:0x[0-9a-fA-F]{40}$' },
});

const DAY = ApiParam({
  name: 'day',
  description: 'A UTC day of the calendar.',
  schema: { type: 'string', format: 'date' },
  example: '2026-11-21',
});

const NOT_FOUND = [
  ['DAY_NOT_FOUND', 'CONTRACT_NOT_FOUND'],
  'DAY_NOT_FOUND: before the first day of the contract. CONTRACT_NOT_FOUND: it is not indexed here.',
] as const;

const NOT_SEALED =
  'The day is not over, or not final and verified yet: Retry-After says when to ask again.';

const NOT_THERE = applyDecorators(
  failure(404, ...NOT_FOUND),
  failure(409, ['DAY_NOT_OVER', 'DAY_NOT_SEALED'], NOT_SEALED, RETRY_AFTER),
);

const COMMON = applyDecorators(
  ACCEPT_SIGNATURE,
  failure(400, 'BAD_REQUEST', 'A parameter is not as described.'),
  failure(401, 'UNAUTHORIZED', 'X-API-KEY is missing or not valid.'),
  failure(429, 'RATE_LIMIT_EXCEEDED', 'Too many requests.', RETRY_AFTER),
  failure(500, 'INTERNAL_SERVER_ERROR', 'An unexpected failure.'),
);

const ANYWHERE = applyDecorators(
  COMMON,
  failure(503, 'SERVICE_UNAVAILABLE', 'The database does not answer.', RETRY_AFTER),
);

export const DaysContract = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'listSealedDays',
      summary: 'The sealed days, the newest first',
      description:
        'Of each UTC day that is final the root of a Merkle tree over the low-water marks of all wallets. A sealed day never changes; one that came out differently later has another revision.',
    }),
    ApiQuery({
      name: 'before',
      required: false,
      description: 'Only days before this one: `next` of the page before.',
      schema: { type: 'string', format: 'date' },
    }),
    ApiQuery({
      name: 'limit',
      required: false,
      description: 'Days in a page.',
      schema: { type: 'integer', minimum: 1, maximum: 366, default: 31 },
    }),
    CONTRACT,
    ApiResponse({
      status: 200,
      description: 'A page of days.',
      headers: COMMON_HEADERS,
      type: SealedDaysAnswer,
    }),
    failure(404, 'CONTRACT_NOT_FOUND', 'The contract is not indexed here.'),
    ANYWHERE,
  );

export const DayContract = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'readSealedDay',
      summary: 'One sealed day',
      description: 'In its newest revision.',
    }),
    DAY,
    CONTRACT,
    ApiResponse({
      status: 200,
      description: 'The day.',
      headers: COMMON_HEADERS,
      type: SealedDayOfSetAnswer,
    }),
    NOT_THERE,
    ANYWHERE,
  );

export const ProofContract = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'proveSealedDay',
      summary: 'A proof of what a wallet kept staked on a sealed day',
      description:
        'The leaf that tells of the wallet, its own or the one that encloses it, and the nodes that lead to the root: for MerkleProof of OpenZeppelin, or the SnapshotRegistry.',
    }),
    DAY,
    ApiQuery({
      name: 'walletAddress',
      required: true,
      description: '0x and 40 hex digits in any case; given once.',
      schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
    }),
    CONTRACT,
    ApiResponse({
      status: 200,
      description: 'The proof.',
      headers: COMMON_HEADERS,
      type: DayProofAnswer,
    }),
    failure(404, ...NOT_FOUND),
    failure(
      409,
      ['DAY_NOT_OVER', 'DAY_NOT_SEALED', 'DAY_REVISION_DUE'],
      `${NOT_SEALED} DAY_REVISION_DUE: of an older day, whose root the index does not give any more.`,
      RETRY_AFTER,
    ),
    failure(410, 'PROOF_NOT_KEPT', 'An older day, of more wallets than proofs are worked out for.'),
    failure(
      503,
      ['SERVICE_UNAVAILABLE', 'PROOF_NOT_READY'],
      'The database does not answer. PROOF_NOT_READY: an older day, whose tree is worked out again: ask again after Retry-After.',
      RETRY_AFTER,
    ),
    COMMON,
  );
