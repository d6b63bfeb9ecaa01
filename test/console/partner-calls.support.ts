/** A real call to a partner that signs its answers wrongly. Support code, not a test. */
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Database } from '#libs/db';
import { type Address, type PartnerId, type UuidV7 } from '#libs/domain';
import { newRequestId, PartnerClient, PartnerEndpoint } from '#libs/partner-client';
import { systemClock } from '#libs/platform';
import { hmacSha256Hex } from '#libs/signing';
import { API_KEY, SECRET } from '../../apps/partner/src/testing/partner-harness.support.js';

export const ANSWER = '{"address":"0x1","points":"<b>7</b>","success":true}';

/**
 * Asks for a wallet's balance at a partner that wrongly signs the query too, and stores the call.
 * @returns the value of the header X-API-REQUEST
 */
export function storeWronglySigned(
  database: Database,
  partnerId: PartnerId,
  address: Address,
): Promise<UuidV7> {
  return storeCall(database, partnerId, address, (request, response) => {
    const content = `GET${request.url ?? ''}${String(request.headers['x-api-request'])}${ANSWER}`;
    response.setHeader('x-api-signature', hmacSha256Hex(SECRET, content));
    response.setHeader('content-type', 'application/json');
    response.end(ANSWER);
  });
}

/** Asks for a wallet's balance at a partner that signs the body rightly, and stores the call. */
export function storeSigned(
  database: Database,
  partnerId: PartnerId,
  address: Address,
  { status = 200, body }: { readonly status?: number; readonly body: string },
): Promise<UuidV7> {
  return storeCall(database, partnerId, address, (request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '');
    const content = `GET${path}${String(request.headers['x-api-request'])}${body}`;
    response.writeHead(status, {
      'x-api-signature': hmacSha256Hex(SECRET, content),
      'content-type': 'application/json',
    });
    response.end(body);
  });
}

async function storeCall(
  database: Database,
  partnerId: PartnerId,
  address: Address,
  answer: RequestListener,
): Promise<UuidV7> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new PartnerClient({ clock: systemClock, policy: { allowPrivate: true } });
  const baseUrl = `http://127.0.0.1:${port}/game/v1`;
  const endpoint = new PartnerEndpoint({
    ...{ partnerId, baseUrl, apiKey: API_KEY, sharedSecret: SECRET },
  });
  const requestId = newRequestId(systemClock);
  const { kind, record } = await client.call(endpoint, { step: 'balance', address }, { requestId });
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  await database.pool.query(
    `INSERT INTO redemption.partner_call (request_id, partner, step, begun_at, ended_at, outcome, record)
      VALUES ($1, $2, 'balance', now(), now(), $3, $4)`,
    [requestId, partnerId, kind, JSON.stringify(record)],
  );
  return requestId;
}
