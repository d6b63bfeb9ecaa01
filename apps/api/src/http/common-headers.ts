/** What the contract says of the headers that every answer carries. */

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
      'Names the request in our logs: the X-Request-Id that was sent, where it is 1 to 64 of A-Z a-z 0-9 . _ -, else a new one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'Content-Digest': {
    description: 'SHA-256 of the body (RFC 9530); where Accept-Signature asks for a signature.',
    schema: { type: 'string', pattern: '^sha-256=:[A-Za-z0-9+/]{43}=:$' },
  },
  'Signature-Input': {
    description: 'What is signed (RFC 9421); where Accept-Signature asks for a signature.',
    schema: { type: 'string' },
  },
  Signature: {
    description: 'The signature (RFC 9421); where Accept-Signature asks for one.',
    schema: { type: 'string' },
  },
} as const;
