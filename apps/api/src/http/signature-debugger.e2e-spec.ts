import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { readSettings } from '#libs/config';
import { createLogger } from '#libs/service';
import { hmacSha256Hex, type MintedCredential } from '#libs/signing';
import { ApiSettings } from '../api.env.js';
import { createApi } from '../create-api.js';
import { addPartner, type Api, startApi } from '../testing/api-harness.support-spec.js';
import { expectSigned } from '../testing/wire.support-spec.js';

const PATH = '/api/debug/signature';

let api: Api;
let partner: MintedCredential;
beforeAll(async () => {
  api = await startApi({ SIGNATURE_DEBUGGER: 'true' });
  partner = await addPartner(api, 'debugging');
});
afterAll(() => api.stop());

function ask(body: unknown) {
  return request(api.url)
    .post(PATH)
    .set('x-api-key', partner.apiKey)
    .set('content-type', 'application/json')
    .send(typeof body === 'string' ? body : JSON.stringify(body));
}

describe('the signature debugger', () => {
  it('shows the content, the signature, and the mistake in another one; signed as everything is', async () => {
    const content = 'GET/api/staking/snapshots{}';
    const response = await ask({
      method: 'GET',
      path: 'https://api.example/api/staking/snapshots?lastDays=7',
      body: '{}',
      signature: hmacSha256Hex(`${partner.sharedSecret}\n`, content),
    }).expect(200);
    expect(response.body).toEqual({
      success: true,
      content,
      signature: hmacSha256Hex(partner.sharedSecret, content),
      matches: false,
      mistakes: ['The secret was read with the line break at its end.'],
    });
    const { headers, text } = response;
    const secret = partner.sharedSecret;
    expectSigned({ headers, body: text }, { method: 'POST', path: PATH, secret });
    expect(text).not.toContain(secret);
  });

  it.each([
    ['[]', 'JSON object'],
    ['null', 'JSON object'],
    ['{}', 'method'],
    ['{"method":"GET"}', 'path'],
    ['{"method":"G T","path":"/"}', 'method'],
    ['{"method":"GET","path":5}', 'path'],
    ['{"method":"GET","path":"/","body":{}}', 'body'],
    [JSON.stringify({ method: 'GET', path: '/', signature: 'a'.repeat(3000) }), 'signature'],
    ['{"method":', ''],
    ['{"__proto__":{"method":"GET","path":"/"}}', ''],
  ])('refuses %s', async (body, message) => {
    const response = await ask(body).expect(400);
    expect(response.body).toMatchObject({ success: false, code: 'BAD_REQUEST' });
    expect((response.body as { message: string }).message).toContain(message);
  });

  it('takes the largest body of a callback, and no larger one', async () => {
    const body = '"x",'.repeat(16 * 1024);
    const signature = hmacSha256Hex(partner.sharedSecret, `GET/${body}`);
    const response = await ask({ method: 'GET', path: '/', body, signature }).expect(200);
    expect(response.body).toMatchObject({ matches: true });
    const larger = await ask({ method: 'GET', path: '/', body: `${body}x` }).expect(400);
    expect((larger.body as { message: string }).message).toContain('body');
  });

  it('answers large bodies 413, and callers without a key 401', async () => {
    await ask({ method: 'GET', path: '/', body: 'x'.repeat(300_000) }).expect(413);
    await request(api.url).post(PATH).send({ method: 'GET', path: '/' }).expect(401);
  });

  it('is not there unless it is asked for, and never in production', async () => {
    const plain = await startApi();
    try {
      await request(plain.url).post(PATH).send({}).expect(404);
    } finally {
      await plain.stop();
    }
    const settings = readSettings(ApiSettings, {
      DATABASE_URL: 'postgresql://reader@127.0.0.1:1/none',
      SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      SIGNATURE_DEBUGGER: 'true',
      NODE_ENV: 'production',
    });
    const logger = createLogger({ app: 'api', level: 'silent' });
    await expect(createApi({ settings, logger })).rejects.toThrow(
      expect.objectContaining({ code: 'DEBUGGER_REFUSED' }),
    );
  });
});
