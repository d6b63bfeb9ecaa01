import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ErrorAnswer, SnapshotsAnswer } from './snapshots.dto.js';

const integer = (minimum: number) => ({ type: 'integer', minimum }) as const;

const COMMON_HEADERS = {
  'X-API-SIGNATURE': {
    description:
      'HMAC-SHA256 of METHOD + PATH + BODY under the shared secret, lower-case hex; on every answer, whatever its status.',
    schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  },
  'X-API-VERSION': {
    description: 'The date of the contract.',
    schema: { type: 'string', format: 'date' },
  },
  'X-RateLimit-Limit': { description: 'Requests at once after a pause.', schema: integer(1) },
  'X-RateLimit-Remaining': {
    description: 'Requests that may follow at once.',
    schema: integer(0),
  },
  'X-RateLimit-Reset': {
    description: 'Seconds until Remaining equals Limit again.',
    schema: integer(0),
  },
  'X-Request-Id': {
    description:
      'Names the request in our logs: the X-Request-Id that was sent, where it is 1 to 64 of A-Z a-z 0-9 . _ -, else a new one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
} as const;

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

const RETRY_AFTER = { 'Retry-After': { description: 'Seconds.', schema: integer(1) } } as const;

function failure(
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
    ApiResponse({
      status: 200,
      description: 'The snapshots, from one consistent state of the index.',
      headers: { ...COMMON_HEADERS, ...INDEX_HEADERS },
      type: SnapshotsAnswer,
    }),
    failure(400, 'BAD_REQUEST', 'walletAddress, lastDays or contract is not as described.'),
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
