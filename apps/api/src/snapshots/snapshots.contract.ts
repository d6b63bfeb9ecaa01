import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { COMMON_HEADERS, integer } from '../http/common-headers.js';
import { ErrorAnswer, SnapshotsAnswer } from './snapshots.dto.js';

const INDEX_HEADERS = {
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

/** What the contract says of `GET /api/staking/snapshots`. */
export const SnapshotsContract = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'readStakingSnapshots',
      summary: 'Daily low-water marks of a wallet’s stake',
      description:
        'One snapshot for each of the last `lastDays` complete UTC days before the day of the request, oldest first: the lowest balance held at any moment of the day. Unknown query parameters are ignored. A HEAD request gets the same headers, signed with METHOD HEAD and an empty body.',
    }),
    ApiHeader({
      name: 'Accept-Signature',
      required: false,
      description:
        'Asks for a signature that binds the answer to its request (HTTP Message Signatures, RFC 9421), beside X-API-SIGNATURE: by the public key of the service (ed25519), or by the shared secret (hmac-sha256).',
      schema: { type: 'string', maxLength: 2000 },
      example: 'sig=();alg="ed25519";nonce="7f3c9a"',
    }),
    ApiResponse({
      status: 200,
      description: 'The snapshots, from one consistent state of the index.',
      headers: { ...COMMON_HEADERS, ...INDEX_HEADERS },
      type: SnapshotsAnswer,
    }),
    failure(
      400,
      'BAD_REQUEST',
      'walletAddress, lastDays, contract or Accept-Signature is not as described.',
    ),
    failure(401, 'UNAUTHORIZED', 'X-API-KEY is missing or not valid.'),
    failure(
      404,
      ['NOT_FOUND', 'CONTRACT_NOT_FOUND'],
      'NOT_FOUND: the wallet never staked; the message names it. CONTRACT_NOT_FOUND: the contract is not indexed here.',
    ),
    failure(429, 'RATE_LIMIT_EXCEEDED', 'Too many requests.', RETRY_AFTER),
    failure(500, 'INTERNAL_SERVER_ERROR', 'An unexpected failure.'),
    failure(
      503,
      'SERVICE_UNAVAILABLE',
      'The index does not cover the window now, or the database does not answer.',
      RETRY_AFTER,
    ),
  );
