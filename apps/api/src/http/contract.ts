/** The part of the OpenAPI contract that all routes share: headers and error answers. */
import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiHeader,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  ApiSchema,
  getSchemaPath,
} from '@nestjs/swagger';

export const integer = (minimum: number) => ({ type: 'integer', minimum }) as const;

export const COMMON_HEADERS = {
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
      'Names the request in our logs: the X-Request-Id that was sent, if it is 1 to 64 of A-Z a-z 0-9 . _ -, else a new one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'Content-Digest': {
    description: 'SHA-256 of the body (RFC 9530); if Accept-Signature asks for a signature.',
    schema: { type: 'string', pattern: '^sha-256=:[A-Za-z0-9+/]{43}=:$' },
  },
  'Signature-Input': {
    description: 'What is signed (RFC 9421); if Accept-Signature asks for a signature.',
    schema: { type: 'string' },
  },
  Signature: {
    description: 'The signature (RFC 9421); if Accept-Signature asks for one.',
    schema: { type: 'string' },
  },
} as const;

export const ACCEPT_SIGNATURE = ApiHeader({
  name: 'Accept-Signature',
  required: false,
  description:
    'Asks for a signature that binds the answer to its request (HTTP Message Signatures, RFC 9421), beside X-API-SIGNATURE: by the public key of the service (ed25519), or by the shared secret (hmac-sha256).',
  schema: { type: 'string', maxLength: 2000 },
  example: 'sig=();alg="ed25519";nonce="7f3c9a"',
});

@ApiSchema({ name: 'Error' })
export class ErrorAnswer {
  @ApiProperty({ const: false } as object)
  readonly success!: false;

  @ApiProperty()
  readonly code!: string;

  @ApiProperty({ description: 'For people; its wording may change.' })
  readonly message!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description: 'When the service received the request; in the 404 of a wallet that never staked.',
  })
  readonly requestedAt?: string;
}

/** Possible codes of an error status, its meaning, and headers of its own. */
export type Failure = readonly [
  code: string | readonly string[],
  description: string,
  headers?: object,
];

/** Error answers that every route may give. */
const OF_ALL: Readonly<Record<number, Failure>> = {
  401: ['UNAUTHORIZED', 'X-API-KEY is missing or not valid.'],
  429: ['RATE_LIMIT_EXCEEDED', 'Too many requests.'],
  500: ['INTERNAL_SERVER_ERROR', 'An unexpected failure.'],
};
/** Statuses whose answers say when to ask again. */
const WITH_RETRY_AFTER = [409, 429, 503];
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds.', schema: integer(1) } };

/** @param own error answers of the route by status, in addition to the common ones or instead of them */
export function failures(own: Readonly<Record<number, Failure>>): MethodDecorator {
  const all = Object.entries({ ...OF_ALL, ...own });
  return applyDecorators(
    ...all.map(([status, [code, description, headers]]) =>
      ApiResponse({
        status: Number(status),
        description,
        headers: {
          ...COMMON_HEADERS,
          ...(WITH_RETRY_AFTER.includes(Number(status)) && RETRY_AFTER),
          ...headers,
        },
        content: {
          'application/json': {
            schema: {
              allOf: [{ $ref: getSchemaPath(ErrorAnswer) }],
              properties: { code: { enum: [code].flat() } },
            },
          },
        },
      }),
    ),
  );
}

interface RouteContract {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Parameters that no DTO describes. */
  readonly parameters?: readonly MethodDecorator[];
  readonly answer: { readonly description: string; readonly headers?: object; readonly type: Type };
  readonly failures: Readonly<Record<number, Failure>>;
}

/** Contract of a route that answers JSON with status 200 and supports `Accept-Signature`. */
export function contractOf({ parameters = [], answer, ...route }: RouteContract): MethodDecorator {
  const { failures: own, ...operation } = route;
  return applyDecorators(
    ApiOperation(operation),
    ...parameters,
    ApiResponse({ status: 200, ...answer, headers: { ...COMMON_HEADERS, ...answer.headers } }),
    ACCEPT_SIGNATURE,
    failures(own),
  );
}
