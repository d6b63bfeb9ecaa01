/** Properties that every answer must have. Named so that it counts as a test file, but holds no tests. */
import { expect } from '@jest/globals';
import { canonicalJson } from '#libs/domain';
import { hmacSha256Hex, type MintedCredential } from '#libs/signing';
import { exchange, type RawAnswer } from '#libs/testing/wire';
import { API_VERSION } from '../http/signed-wire.js';

export { exchange, type RawAnswer };

interface Expected {
  readonly method: string;
  /** The bytes that were sent, one character per byte. */
  readonly path: string;
  readonly secret: string;
}

/** Sends the parts on one connection, and returns the first answer. */
export async function answerTo(
  port: number,
  parts: readonly (string | Buffer)[],
): Promise<RawAnswer> {
  const [answer] = await exchange(port, parts);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | string;
}

/** Asks in the name of one caller, and checks each answer by the rules for all of them. */
export class Caller {
  constructor(
    private readonly url: string,
    private readonly credential: MintedCredential,
  ) {}

  async ask(
    target: string,
    { method = 'GET', headers = {}, body }: Asked = {},
  ): Promise<RawAnswer> {
    const { apiKey, sharedSecret: secret } = this.credential;
    const response = await fetch(this.url + target, {
      method,
      headers: { ...(apiKey !== '' && { 'x-api-key': apiKey }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const { status } = response;
    const all: Record<string, string> = Object.fromEntries(response.headers);
    const answer = { status, headers: all, body: await response.text() };
    expectSigned(answer, { method, path: target.split('?')[0] ?? '', secret });
    return answer;
  }

  post(target: string, body: object | string, type = 'application/json'): Promise<RawAnswer> {
    return this.ask(target, { method: 'POST', body, headers: { 'content-type': type } });
  }

  /** The body of an answer with status 200. */
  async read<T>(target: string, body?: object): Promise<T> {
    const answer = await (body === undefined ? this.ask(target) : this.post(target, body));
    expect([target, answer.status]).toEqual([target, 200]);
    return JSON.parse(answer.body) as T;
  }
}

/** Checks the rules for every answer: signature, version, request id, rate limits, and a body in canonical form. */
export function expectSigned(
  { headers, body }: Pick<RawAnswer, 'headers' | 'body'>,
  { method, path, secret }: Expected,
): void {
  const content = Buffer.concat([Buffer.from(method + path, 'latin1'), Buffer.from(body)]);
  expect(headers['x-api-signature']).toBe(hmacSha256Hex(secret, content));
  expect(headers['x-api-version']).toBe(API_VERSION);
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
  }
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  const isJson = headers['content-type']?.startsWith('application/json') === true;
  if (isJson && body !== '') expect(canonicalJson(JSON.parse(body))).toBe(body);
}

export function expectError(
  answer: Pick<RawAnswer, 'status' | 'body'>,
  status: number,
  code: string,
): void {
  const body = { success: false, code, message: expect.any(String) };
  expect([answer.status, JSON.parse(answer.body)]).toEqual([status, body]);
}
