import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { COMMON_HEADERS, integer } from '../http/common-headers.js';
import { BatchAnswer } from './batch.dto.js';
import { ErrorAnswer, SnapshotsAnswer } from './snapshots.dto.js';

export const INDEX_HEADERS = {
  'X-Index-Block': {
    description: 'The newest block taken into account.',
    schema: integer(0),
  },
  'X-Index-Final': {
    description:
      'true where the chain’s finality has passed the end of the window, so that no reorganisation can change the answer.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
};

export const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds.', schema: integer(1) },
} as const;

/** An answer that says why there is no success; `code` is the one, or those, that it may have. */
export function failure(
  status: number,
  code: string | readonly string[],
  description: string,
  headers: object = {},
) {
  const schema = {
    allOf: [{ $ref: getSchemaPath(ErrorAnswer) }],
    properties: { code: { enum: [code].flat() } },
  };
  return ApiResponse({
    status,
    description,
    headers: { ...COMMON_HEADERS, ...headers },
    content: { 'application/json': { schema } },
  });
}

const NOT_OVER = failure(
  409,
  'DAY_NOT_OVER',
  'endDay is the day of the request: Retry-After says when it is over.',
  RETRY_AFTER,
);

export const ACCEPT_SIGNATURE = ApiHeader({
  name: 'Accept-Signature',
  required: false,
  description:
    'Asks for a signature that binds the answer to its request (HTTP Message Signatures, RFC 9421), beside X-API-SIGNATURE: by the public key of the service (ed25519), or by the shared secret (hmac-sha256).',
  schema: { type: 'string', maxLength: 2000 },
  example: 'sig=();alg="ed25519";nonce="7f3c9a"',
});

/** What the contract says of `GET /api/staking/snapshots`. */
export const SnapshotsContract = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'readStakingSnapshots',
      summary: 'Daily low-water marks of a wallet’s stake',
      description:
        'One snapshot for each of `lastDays` whole UTC days, oldest first, the last of them `endDay` or the day before the request: the lowest balance held at any moment of the day. Unknown query parameters are ignored. A HEAD request gets the same headers, signed with METHOD HEAD and an empty body.',
    }),
    ACCEPT_SIGNATURE,
    ApiResponse({
      status: 200,
      description: 'The snapshots, from one consistent state of the index.',
      headers: { ...COMMON_HEADERS, ...INDEX_HEADERS },
      type: SnapshotsAnswer,
    }),
    failure(
      400,
      'BAD_REQUEST',
      'walletAddress, lastDays, endDay, contract or Accept-Signature is not as described.',
    ),
    failure(401, 'UNAUTHORIZED', 'X-API-KEY is missing or not valid.'),
    failure(
      404,
      ['NOT_FOUND', 'CONTRACT_NOT_FOUND'],
      'NOT_FOUND: the wallet never staked; the message names it. CONTRACT_NOT_FOUND: the contract is not indexed here.',
    ),
    NOT_OVER,
    failure(429, 'RATE_LIMIT_EXCEEDED', 'Too many requests.', RETRY_AFTER),
    failure(500, 'INTERNAL_SERVER_ERROR', 'An unexpected failure.'),
    failure(
      503,
      'SERVICE_UNAVAILABLE',
      'The index does not cover the window now, or the database does not answer.',
      RETRY_AFTER,
    ),
  );

/** What the contract says of `POST /api/staking/snapshots/batch`. */
export const BatchContract = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'readStakingSnapshotsBatch',
      summary: 'The same of up to 1,000 wallets at once',
      description:
        'One answer with one signature and a status for each wallet, from one state of the index. It counts as many requests as the list has entries, and is refused as a whole where they are more than the limit has room for. The body of the request is not part of the signature: hold each result against the wallet that was asked for. Unknown fields are ignored.',
    }),
    ACCEPT_SIGNATURE,
    ApiResponse({
      status: 200,
      description: 'A result for each wallet, all from one consistent state of the index.',
      headers: { ...COMMON_HEADERS, ...INDEX_HEADERS },
      type: BatchAnswer,
    }),
    failure(
      400,
      ['BAD_REQUEST', 'BATCH_TOO_LARGE'],
      'BAD_REQUEST: the body or Accept-Signature is not as described. BATCH_TOO_LARGE: more than 1,000 wallets, or more than your limit allows at once; the message says how many.',
    ),
    failure(401, 'UNAUTHORIZED', 'X-API-KEY is missing or not valid.'),
    failure(404, 'CONTRACT_NOT_FOUND', 'The contract is not indexed here.'),
    NOT_OVER,
    failure(413, 'BAD_REQUEST', 'The body is larger than 64 KiB.'),
    failure(415, 'BAD_REQUEST', 'The body is not application/json.'),
    failure(
      429,
      'RATE_LIMIT_EXCEEDED',
      'The limit has no room for so many wallets now.',
      RETRY_AFTER,
    ),
    failure(500, 'INTERNAL_SERVER_ERROR', 'An unexpected failure.'),
    failure(
      503,
      'SERVICE_UNAVAILABLE',
      'The index does not cover the window now, or the database does not answer.',
      RETRY_AFTER,
    ),
  );
