import { describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { type Outcome, type Sent } from './exchange.js';
import { explainSignature } from './judge-signature.js';

const SECRET = 'a secret ';
const sent: Sent = {
  method: 'POST',
  target: '/game/v1/revert-deduct-points?x=1',
  headers: { 'x-api-request': 'THE-ID' },
  body: '{"of":"the call"}',
};
const body = '{"b":1,"a":2}';
const PATH = '/game/v1/revert-deduct-points';

function explained(
  content: string,
  secret = SECRET,
  form = (hex: string) => hex,
  sentBody = body,
): unknown {
  const hex = createHmac('sha256', secret).update(content).digest('hex');
  const headers = { 'x-api-signature': form(hex) };
  const came: Outcome = {
    kind: 'answer',
    status: 200,
    headers,
    body: Buffer.from(sentBody),
    durationMs: 1,
  };
  return explainSignature(SECRET, sent, came);
}

describe('explainSignature', () => {
  it.each([
    ['METHOD + PATH (no X-API-REQUEST) + BODY', `POST${PATH}${body}`],
    ['METHOD + PATH with its query + X-API-REQUEST + BODY', `POST${sent.target}THE-ID${body}`],
    [
      'METHOD + /revert-deduct-points (another path) + X-API-REQUEST + BODY',
      `POST/revert-deduct-pointsTHE-ID${body}`,
    ],
    ['METHOD + PATH + X-API-REQUEST + the body of the CALL', `POST${PATH}THE-ID${sent.body}`],
    [
      'METHOD + PATH + X-API-REQUEST + BODY printed with blanks',
      `POST${PATH}THE-ID{\n  "b": 1,\n  "a": 2\n}`,
    ],
    [
      "METHOD + PATH + X-API-REQUEST + BODY as Python's json.dumps prints it, with spaces",
      `POST${PATH}THE-ID{"b": 1, "a": 2}`,
    ],
    ['PATH + X-API-REQUEST (no METHOD) + BODY', `${PATH}THE-ID${body}`],
    ['BODY', body],
  ])('finds %s', (what, content) => {
    expect(explained(content)).toBe(`It is over ${what}.`);
  });

  it.each(['\n', '\r\n'])('finds that %j was sent after what was signed', (end) => {
    const content = `POST${PATH}THE-ID${body}`;
    expect(explained(content, SECRET, (hex) => hex, body + end)).toBe(
      'It is over METHOD + PATH + X-API-REQUEST + BODY without the line break at its end.',
    );
  });

  it('finds another form and another reading of the secret', () => {
    const content = `POST${PATH}THE-ID${body}`;
    const upper = (hex: string): string => hex.toUpperCase();
    const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
    expect(explained(content, SECRET, upper)).toMatch(/BODY, not in lower case\.$/);
    expect(explained(content, SECRET, base64)).toMatch(/BODY, in base64 instead of hex\.$/);
    expect(explained(content, SECRET.trim())).toMatch(/BODY, with the secret trimmed\.$/);
    expect(explained('something else')).toBeUndefined();
  });
});
