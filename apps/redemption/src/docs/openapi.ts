/** The contract as an OpenAPI document. Kept by hand; a test holds the answers of the real service against it. */
import { type OpenApiOperation, type OpenApiParameter } from '#libs/service';
import { SCHEMAS, type SchemaName } from './schemas.js';

type Parameter = OpenApiParameter & { readonly in: 'path' | 'query' | 'header' };

interface Operation extends OpenApiOperation {
  readonly security: readonly object[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: object;
}

const REQUEST_ID = {
  'X-Request-Id': {
    description:
      'Names the request in our logs: the X-Request-Id that was sent, where it is 1 to 64 of A-Z a-z 0-9 . _ -, else a new one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
};
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } };

function json(name: SchemaName): object {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
}

function answers(description: string, name: SchemaName) {
  return { description, headers: REQUEST_ID, content: json(name) };
}

function failure(description: string, ...codes: readonly string[]) {
  const schema = {
    allOf: [{ $ref: '#/components/schemas/Error' }],
    properties: { code: { enum: codes } },
  };
  return { description, headers: REQUEST_ID, content: { 'application/json': { schema } } };
}

function passing(description: string, ...codes: readonly string[]) {
  return { ...failure(description, ...codes), headers: { ...REQUEST_ID, ...RETRY_AFTER } };
}

const SESSION = [{ session: [] }];
const BAD_REQUEST = failure('The request is malformed; `field` says where.', 'BAD_REQUEST');
const ANYWHERE = {
  '429': passing('Too many requests.', 'RATE_LIMIT_EXCEEDED'),
  '500': failure('An unexpected failure.', 'INTERNAL_SERVER_ERROR'),
  '503': passing('The service cannot answer at the moment.', 'SERVICE_UNAVAILABLE'),
};
const SIGNED_IN = {
  ...ANYWHERE,
  '401': failure('There is no such session, or it has expired.', 'UNAUTHORIZED'),
};
const NO_REDEMPTION = failure('This wallet has no such redemption.', 'NOT_FOUND');

const ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Of the redemption.',
  schema: { type: 'string' },
};
const PARTNER: Parameter = {
  name: 'partner',
  in: 'path',
  required: true,
  description: 'Id or name, in any capitals.',
  schema: { type: 'string' },
};
const LIMIT: Parameter = {
  name: 'limit',
  in: 'query',
  required: false,
  description: 'How many at most.',
  schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
};
const BEFORE: Parameter = {
  name: 'before',
  in: 'query',
  required: false,
  description: '`next` of the page before.',
  schema: { type: 'string' },
};
const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description:
    'A new one for each redemption; the same one to repeat a request whose answer was lost.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

/** By path and method. */
export const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  '/api/auth/nonce': {
    post: {
      summary: 'A nonce to sign in with',
      description: 'Good once and for five minutes, in one EIP-4361 message.',
      security: [],
      parameters: [],
      responses: { '200': answers('The nonce.', 'Nonce'), ...ANYWHERE },
    },
  },
  '/api/auth/verify': {
    post: {
      summary: 'Sign in with Ethereum',
      description:
        'Checks an EIP-4361 message and its signature: by an account, by a contract wallet (EIP-1271), or by one that does not exist yet (EIP-6492).',
      security: [],
      parameters: [],
      requestBody: { required: true, content: json('SignedMessage') },
      responses: {
        '200': answers('The session. Send its token as Authorization: Bearer.', 'Session'),
        '400': BAD_REQUEST,
        '401': failure(
          'The message does not sign anybody in; the code says which part of it.',
          'SIWE_DOMAIN',
          'SIWE_URI',
          'SIWE_CHAIN_ID',
          'SIWE_EXPIRED',
          'SIWE_NOT_BEFORE',
          'SIWE_ISSUED_AT',
          'SIWE_SIGNATURE',
          'SIWE_NONCE',
        ),
        ...ANYWHERE,
      },
    },
  },
  '/api/auth/logout': {
    post: {
      summary: 'Sign out',
      description: 'Ends the session of the token; done as well where there is none.',
      security: SESSION,
      parameters: [],
      responses: { '204': { description: 'Signed out.', headers: REQUEST_ID }, ...ANYWHERE },
    },
  },
  '/api/partners': {
    get: {
      summary: 'The partners that can be redeemed with',
      description: 'By name, the paused ones too.',
      security: SESSION,
      parameters: [],
      responses: { '200': answers('The partners.', 'Partners'), ...SIGNED_IN },
    },
  },
  '/api/partners/{partner}/points': {
    get: {
      summary: 'The wallet’s points',
      description: 'Asks the partner; its answer is not kept.',
      security: SESSION,
      parameters: [PARTNER],
      responses: {
        '200': answers('The points.', 'Points'),
        ...SIGNED_IN,
        '404': failure('No such partner, or no such player.', 'NOT_FOUND', 'USER_NOT_FOUND'),
        '502': failure('The partner’s answer could not be used.', 'PARTNER_ERROR'),
        '503': passing('No answer for now.', 'PARTNER_UNAVAILABLE', 'SERVICE_UNAVAILABLE'),
      },
    },
  },
  '/api/redemptions': {
    post: {
      summary: 'Redeem points',
      description:
        'Freezes points, price and tokens, and begins. The points are deducted next, without another request; watch the redemption until it is authorised.',
      security: SESSION,
      parameters: [IDEMPOTENCY_KEY],
      requestBody: { required: true, content: json('NewRedemption') },
      responses: {
        '200': answers('The redemption that this key made before, as it is now.', 'Redemption'),
        '201': answers('The new redemption.', 'Redemption'),
        '400': BAD_REQUEST,
        ...SIGNED_IN,
        '404': failure('No such partner, or no such player there.', 'NOT_FOUND', 'USER_NOT_FOUND'),
        '409': passing(
          'Not now. Retry-After comes where waiting is known to help.',
          'INSUFFICIENT_POINTS',
          'REDEMPTION_OPEN',
          'PARTNER_PAUSED',
          'PAYOUTS_UNAVAILABLE',
          'PARTNER_BUDGET_SPENT',
          'WALLET_BUDGET_SPENT',
          'VOUCHER_COOL_DOWN',
          'PRICE_UNAVAILABLE',
          'PRICE_STALE',
          'IDEMPOTENCY_IN_PROGRESS',
        ),
        '422': failure(
          'Not with these points, or not with this key.',
          'INVALID_POINTS',
          'TOO_FEW_POINTS',
          'TOO_MANY_POINTS',
          'TOO_FEW_TOKENS',
          'IDEMPOTENCY_CONFLICT',
        ),
        '502': failure('The partner’s answer could not be used.', 'PARTNER_ERROR'),
        '503': passing('No answer for now.', 'PARTNER_UNAVAILABLE', 'SERVICE_UNAVAILABLE'),
      },
    },
    get: {
      summary: 'The wallet’s redemptions',
      description: 'Newest first.',
      security: SESSION,
      parameters: [LIMIT, BEFORE],
      responses: {
        '200': answers('A page of them.', 'Redemptions'),
        '400': BAD_REQUEST,
        ...SIGNED_IN,
      },
    },
  },
  '/api/redemptions/{id}': {
    get: {
      summary: 'One redemption',
      description: 'With its voucher while that can be claimed.',
      security: SESSION,
      parameters: [ID],
      responses: {
        '200': answers('The redemption.', 'Redemption'),
        ...SIGNED_IN,
        '404': NO_REDEMPTION,
      },
    },
  },
  '/api/redemptions/{id}/cancel': {
    post: {
      summary: 'Cancel a redemption',
      description:
        'A wish: once a voucher is out, the chain decides whether it was claimed before it was cancelled.',
      security: SESSION,
      parameters: [ID],
      responses: {
        '202': answers('The redemption as it is now.', 'Redemption'),
        ...SIGNED_IN,
        '404': NO_REDEMPTION,
        '409': passing(
          'It cannot be cancelled now. Retry-After comes with NOT_YET_CANCELLABLE.',
          'FINAL',
          'NEEDS_OPERATOR',
          'NOT_RESTORABLE',
          'NOT_YET_CANCELLABLE',
          'TOO_LATE_TO_CANCEL',
        ),
      },
    },
  },
};

export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'Lowmark redemption',
    version: '2026-11-21',
    description:
      'Points become tokens. Changes are additive only; expect new fields and error messages.',
  },
  paths: OPERATIONS,
  components: {
    securitySchemes: { session: { type: 'http', scheme: 'bearer' } },
    schemas: SCHEMAS,
  },
};
