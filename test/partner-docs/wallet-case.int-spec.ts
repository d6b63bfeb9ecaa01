/** The service's client sends lower case for a wallet in any case. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Address, parseAddress, type PartnerId, type UuidV7 } from '#libs/domain';
import { type PartnerCall, PartnerClient, PartnerEndpoint } from '#libs/partner-client';
import { systemClock } from '#libs/platform';

const TYPED = '0x52908400098527886E0F7030069857D2E4169EE7';
const address = parseAddress(TYPED) as Address;
const terms = {
  address,
  deductPoints: 1,
  svcRedemptionId: '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d' as UuidV7,
};
const OUTCOME = {
  ...terms,
  usdAmount: 1,
  svcAmount: 1,
  priceSvcUsd: 1,
  status: 'reverted' as const,
  txnConfirmed: false,
  initialAt: '2026-11-20T06:50:32.426Z',
  pendingAt: '2026-11-20T06:50:33.001Z',
  claimedAt: null,
  revertedAt: '2026-11-20T06:58:11.000Z',
};
const CALLS: readonly PartnerCall[] = [
  { step: 'balance', address },
  { step: 'deduct', body: terms },
  { step: 'revert', body: { ...terms, revertReason: 'User cancelled' } },
  { step: 'confirm', body: OUTCOME },
];

let server: Server;
const sent: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      sent.push(`${request.url ?? ''} ${body}`);
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it.each(CALLS)('$step has the wallet in lower case', async (call) => {
  const client = new PartnerClient({ clock: systemClock, policy: { allowPrivate: true } });
  const endpoint = new PartnerEndpoint({
    partnerId: '5f0c1f0e-0000-4000-8000-000000000001' as PartnerId,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/game`,
    apiKey: 'a-key-of-my-game',
    sharedSecret: 'a-secret-of-my-game',
  });
  await client.call(endpoint, call);
  expect(sent.at(-1)).toContain(TYPED.toLowerCase());
});
