import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookError, type WebhookHeaders } from './verify-webhook.js';

const aSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const SECRET = aSecret();
const ID = 'msg_0123456789abcdef0123456789abcdef';
const EVENT = {
  type: 'redemption.claimed',
  timestamp: '2026-11-21T10:00:00.000Z',
  data: {
    ...{ redemptionId: 'r', walletAddress: '0x1', status: 'claimed', points: 5, usdAmount: '1' },
    ...{ tokenAmount: '7', tokenDecimals: 18, transactionHash: null },
  },
};
const BODY = JSON.stringify(EVENT);

function signed(body = BODY, secrets = [SECRET], at = new Date()): Record<string, string> {
  return {
    'webhook-id': ID,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((one) => new Webhook(one).sign(ID, at, body)).join(' '),
  };
}

function codeOf(
  headers: WebhookHeaders,
  body: string | Uint8Array = BODY,
  secret: string | string[] = SECRET,
): string {
  try {
    verifyWebhook(headers, body, secret);
    return 'fine';
  } catch (error) {
    if (error instanceof WebhookError) return error.code;
    throw error;
  }
}

describe('a webhook', () => {
  it.each([
    ['a string', BODY],
    ['bytes', Buffer.from(BODY)],
    ['an array of bytes', new Uint8Array(Buffer.from(BODY))],
  ])('verifies from %s, and is typed', (_of, body) => {
    expect(verifyWebhook(signed(), body, SECRET)).toEqual({ id: ID, ...EVENT });
  });

  it('verifies by Headers, and by names in capitals', () => {
    expect(codeOf(new Headers(signed()))).toBe('fine');
    const capitals = Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]);
    expect(codeOf(Object.fromEntries(capitals) as Record<string, string>)).toBe('fine');
  });

  it('is signed as the standard says: HMAC-SHA256 over id, time and body', () => {
    const headers = signed();
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const content = `${ID}.${String(headers['webhook-timestamp'])}.${BODY}`;
    const signature = createHmac('sha256', key).update(content).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
  });

  it('verifies while one secret replaces another, whichever side is first', () => {
    const next = aSecret();
    const both = signed(BODY, [next, SECRET]);
    expect([codeOf(both, BODY, SECRET), codeOf(both, BODY, next)]).toEqual(['fine', 'fine']);
    expect(codeOf(signed(), BODY, [next, SECRET])).toBe('fine');
    expect(codeOf(signed(BODY, [next]), BODY, SECRET)).toBe('SIGNATURE_INVALID');
  });

  const without = (name: string): Record<string, string | string[]> =>
    Object.fromEntries(Object.entries(signed()).filter(([given]) => given !== name));

  it.each<[string, WebhookHeaders, string]>([
    ['no id', without('webhook-id'), 'HEADERS_INVALID'],
    ['no time', without('webhook-timestamp'), 'HEADERS_INVALID'],
    ['no signature', without('webhook-signature'), 'HEADERS_INVALID'],
    ['two ids', { ...signed(), 'webhook-id': [ID, ID] }, 'HEADERS_INVALID'],
    ['a time with letters', { ...signed(), 'webhook-timestamp': '12ab' }, 'HEADERS_INVALID'],
    [
      'an old time',
      signed(BODY, [SECRET], new Date(Date.now() - 400_000)),
      'TIMESTAMP_OUT_OF_RANGE',
    ],
    [
      'a later time',
      signed(BODY, [SECRET], new Date(Date.now() + 400_000)),
      'TIMESTAMP_OUT_OF_RANGE',
    ],
    ['another id', { ...signed(), 'webhook-id': 'msg_other' }, 'SIGNATURE_INVALID'],
    ['no version', { ...signed(), 'webhook-signature': 'nonsense' }, 'SIGNATURE_INVALID'],
    ['a version alone', { ...signed(), 'webhook-signature': 'v1' }, 'SIGNATURE_INVALID'],
    [
      'many signatures',
      { ...signed(), 'webhook-signature': 'v1,x '.repeat(500) },
      'SIGNATURE_INVALID',
    ],
  ])('with %s is refused', (_what, headers, code) => {
    expect(codeOf(headers)).toBe(code);
  });

  it('whose body was changed by a byte is refused', () => {
    expect(codeOf(signed(), `${BODY} `)).toBe('SIGNATURE_INVALID');
    expect(codeOf(signed(), Buffer.from([0xff, 0xfe]))).toBe('SIGNATURE_INVALID');
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['another type', JSON.stringify({ ...EVENT, type: 'day.eaten' })],
    ['a type of the language', JSON.stringify({ ...EVENT, type: 'constructor' })],
    ['a field less', JSON.stringify({ ...EVENT, data: { ...EVENT.data, points: undefined } })],
    ['a field of another kind', JSON.stringify({ ...EVENT, data: { ...EVENT.data, points: '5' } })],
  ])('that is signed and has %s is not taken for an event', (_what, body) => {
    expect(codeOf(signed(body), body)).toBe('EVENT_UNKNOWN');
  });

  it.each(['', 'whsec_', 'secret', 'whsec_****'])('needs a secret, not %j', (secret) => {
    expect(codeOf(signed(), BODY, secret)).toBe('SECRET_INVALID');
    expect(codeOf(signed(), BODY, [])).toBe('SECRET_INVALID');
  });
});
