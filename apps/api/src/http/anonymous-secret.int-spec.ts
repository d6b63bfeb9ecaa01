/**
 * What an attacker can do with the secret of answers to callers without a key: sign refusals to callers without a key, and nothing that a partner
 * accepts.
 */
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SignatureError, StakingClient } from '#libs/partner-sdk';
import { hmacSha256Hex, type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';

const PATH = '/api/staking/snapshots';
const WALLET = aWallet(1);

let api: Api;
let partner: MintedCredential;
beforeAll(async () => {
  api = await startApi();
  partner = await addPartner(api, 'anonymous');
  await seedIndex(api, {
    events: [['2026-11-10T10:00:00Z', WALLET, 100]],
    headAt: '2026-11-21T12:00:00Z',
  });
});
afterAll(() => api.stop());

const ask = (headers: Record<string, string>): Promise<Response> =>
  fetch(`${api.url}${PATH}?walletAddress=${WALLET}`, { headers });

/** A partner sends a request, and an attacker answers it in place of the api, signing with this secret. */
async function answeredBy(body: string, secret: string): Promise<unknown> {
  const thief = createServer(({ method = '' }, response) => {
    const signature = hmacSha256Hex(secret, Buffer.from(method + PATH + body));
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-api-signature': signature,
    });
    response.end(body);
  });
  await new Promise<void>((up) => thief.listen(0, '127.0.0.1', up));
  const { port } = thief.address() as AddressInfo;
  try {
    const client = new StakingClient({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: partner.apiKey,
      sharedSecret: partner.sharedSecret,
      clock: api.clock,
    });
    return await client.snapshots(WALLET);
  } finally {
    thief.closeAllConnections();
    thief.close();
  }
}

it('signs no stake and opens no door: callers without a key are told nothing but that they are refused', async () => {
  for (const headers of [
    {},
    { 'x-api-key': ANON_SECRET },
    { authorization: `Bearer ${ANON_SECRET}` },
  ]) {
    const answer = await ask(headers);
    const body = await answer.text();
    expect([answer.status, body.includes(WALLET)]).toEqual([401, false]);
    const signature = hmacSha256Hex(ANON_SECRET, Buffer.from(`GET${PATH}${body}`));
    expect(answer.headers.get('x-api-signature')).toBe(signature);
  }
});

it('makes no answer that a partner believes', async () => {
  const body = await (await ask({ 'x-api-key': partner.apiKey })).text();
  expect(body).toContain(WALLET);
  expect(await answeredBy(body, partner.sharedSecret)).toMatchObject({ walletAddress: WALLET });
  await expect(answeredBy(body, ANON_SECRET)).rejects.toBeInstanceOf(SignatureError);
});
