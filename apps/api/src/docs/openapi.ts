/** The contract as an OpenAPI document. Kept by hand; a test holds the answers of the real service against it. */
import { API_VERSION } from '../http/signing/response-headers.js';

const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7';
const TIME = { type: 'string', format: 'date-time' };
const ADDRESS = { type: 'string', pattern: '^0x[0-9a-f]{40}$' };
const AMOUNT = { type: 'number', minimum: 0 };

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
  'X-RateLimit-Limit': {
    description: 'Requests at once after a pause.',
    schema: { type: 'integer', minimum: 1 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests that may follow at once.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-RateLimit-Reset': {
    description: 'Seconds until Remaining equals Limit again.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Request-Id': {
    description:
      'Names the request in our logs: the X-Request-Id that was sent, where it is 1 to 64 of A-Z a-z 0-9 . _ -, else a new one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
};

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } },
};

function failure(description: string, codes: readonly string[], headers: object = {}) {
  return {
    description,
    headers: { ...COMMON_HEADERS, ...headers },
    content: {
      'application/json': {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Error' }],
          properties: { code: { enum: codes } },
        },
      },
    },
  };
}

const SNAPSHOTS = {
  operationId: 'readStakingSnapshots',
  summary: 'Daily low-water marks of a wallet’s stake',
  description:
    'One snapshot for each of the last `lastDays` complete UTC days before the day of the request, oldest first: the lowest balance held at any moment of the day. Unknown query parameters are ignored. A HEAD request gets the same headers, signed with METHOD HEAD and an empty body.',
  parameters: [
    {
      name: 'walletAddress',
      in: 'query',
      required: true,
      description: '0x and 40 hex digits in any case; given once.',
      schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
      example: WALLET,
    },
    {
      name: 'lastDays',
      in: 'query',
      description: 'In plain digits; given at most once.',
      schema: { type: 'integer', minimum: 1, maximum: 30, default: 7 },
    },
  ],
  responses: {
    '200': {
      description: 'The snapshots, from one consistent state of the index.',
      headers: {
        ...COMMON_HEADERS,
        'X-Index-Block': {
          description: 'The newest block taken into account.',
          schema: { type: 'integer', minimum: 0 },
        },
        'X-Index-Final': {
          description:
            'true where the chain’s finality has passed the end of the window, so that no reorganisation can change the answer.',
          schema: { type: 'string', enum: ['true', 'false'] },
        },
      },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Snapshots' } } },
    },
    '400': failure('walletAddress or lastDays is not as described.', ['BAD_REQUEST']),
    '401': failure('X-API-KEY is missing or not valid.', ['UNAUTHORIZED']),
    '404': failure('The wallet never staked; the message names it.', ['NOT_FOUND']),
    '429': failure('Too many requests.', ['RATE_LIMIT_EXCEEDED'], RETRY_AFTER),
    '500': failure('An unexpected failure.', ['INTERNAL_SERVER_ERROR']),
    '503': failure(
      'The index does not cover the window now, or the database does not answer.',
      ['SERVICE_UNAVAILABLE'],
      RETRY_AFTER,
    ),
  },
};

const SCHEMAS = {
  Snapshots: {
    type: 'object',
    required: [
      'walletAddress',
      'requestedAt',
      'tokenSymbol',
      'tokenContract',
      'stakeContract',
      'averageStakedAmount',
      'stakingSnapshots',
    ],
    dependentRequired: {
      valueInUSD: ['exchangeRateToUSD'],
      exchangeRateToUSD: ['valueInUSD'],
    },
    properties: {
      walletAddress: { ...ADDRESS, description: 'In lower case.' },
      requestedAt: { ...TIME, description: 'When the service received the request.' },
      tokenSymbol: { type: 'string' },
      tokenContract: ADDRESS,
      stakeContract: ADDRESS,
      averageStakedAmount: {
        ...AMOUNT,
        description: 'The sum of the snapshots’ amounts / lastDays, in token units.',
      },
      valueInUSD: {
        ...AMOUNT,
        description:
          'averageStakedAmount x exchangeRateToUSD, worked out exactly; absent without a fresh price.',
      },
      exchangeRateToUSD: {
        type: 'number',
        exclusiveMinimum: 0,
        description: 'US dollars for one token; absent without a fresh price.',
      },
      stakingSnapshots: {
        type: 'array',
        description: 'Exactly lastDays, oldest first.',
        minItems: 1,
        maxItems: 30,
        items: { $ref: '#/components/schemas/Snapshot' },
      },
    },
  },
  Snapshot: {
    type: 'object',
    required: ['from', 'to', 'snapshotAmount'],
    properties: {
      from: { ...TIME, description: '00:00:00.000 UTC.' },
      to: { ...TIME, description: '23:59:59.999 UTC of the same day.' },
      snapshotAmount: {
        ...AMOUNT,
        description: 'The lowest balance of the day, the one carried in at 00:00 included.',
      },
    },
  },
  Error: {
    type: 'object',
    required: ['success', 'code', 'message'],
    properties: {
      success: { const: false },
      code: { type: 'string' },
      message: { type: 'string', description: 'For people; its wording may change.' },
    },
  },
};

export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'Lowmark staking snapshots',
    version: API_VERSION,
    description:
      'Changes under this path are additive only; expect new fields, headers and error messages. Every answer is signed, errors included.',
  },
  security: [{ apiKey: [] }],
  paths: { '/api/staking/snapshots': { get: SNAPSHOTS } },
  components: {
    securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } },
    schemas: SCHEMAS,
  },
};
