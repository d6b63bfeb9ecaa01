/** What the client sends, over real sockets. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseUuidV7, uuidV7Ms } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import { type PartnerCall } from './partner-endpoint.js';
import {
  aClient,
  anId,
  BALANCE,
  CONFIRM,
  DEDUCT,
  endpointOf,
  REDEMPTION,
  REVERT,
  WALLET,
} from './testing/partner-bench.support.js';
import { API_KEY, RoguePartner, SHARED_SECRET } from './testing/rogue-partner.support.js';

let partner: RoguePartner;

beforeEach(async () => {
  partner = await RoguePartner.start();
});

afterEach(async () => {
  await partner.close();
});

describe('a call', () => {
  it.each<[string, PartnerCall, Record<'method' | 'path' | 'query', string> & { body?: string }]>([
    [
      'balance',
      BALANCE,
      { method: 'GET', path: '/get-points-by-address', query: `?address=${WALLET}`, body: '' },
    ],
    [
      'deduct',
      DEDUCT,
      {
        method: 'POST',
        path: '/deduct-points-by-address',
        query: '',
        body: `{"address":"${WALLET}","deductPoints":1500,"svcRedemptionId":"${REDEMPTION}"}`,
      },
    ],
    [
      'revert',
      REVERT,
      {
        method: 'POST',
        path: '/revert-deduct-points',
        query: '',
        body: `{"address":"${WALLET}","deductPoints":1500,"partnerTransactionId":"ptx-1","revertReason":"timeout","svcRedemptionId":"${REDEMPTION}"}`,
      },
    ],
    ['confirm', CONFIRM, { method: 'POST', path: '/confirm-redemption', query: '' }],
  ])(
    '%s goes out signed, once, and comes back verified',
    async (step, call, { method, path: route, query, body }) => {
      const path = `/game/v1${route}`;
      const before = Date.now();
      const result = await aClient().call(endpointOf(partner), call);
      expect(result).toMatchObject({
        kind: 'answer',
        phase: 'done',
        status: 200,
        verdict: 'verified',
        alert: false,
        reply: { json: { value: { success: true, partnerTransactionId: 'ptx-1' } } },
      });
      expect(partner.requests).toHaveLength(1);
      const [seen] = partner.requests;
      expect(seen).toMatchObject({ method, target: path + query });
      if (body !== undefined) expect(seen?.body).toBe(body);
      const id = seen?.header('x-api-request') ?? '';
      expect(uuidV7Ms(parseUuidV7(id) ?? anId(0))).toBeGreaterThanOrEqual(before);
      expect(seen?.header('x-api-key')).toBe(API_KEY);
      const content = method + path + id + (seen?.body ?? '');
      expect(seen?.header('x-api-signature')).toBe(hmacSha256Hex(SHARED_SECRET, content));
      expect(seen?.header('content-type')).toBe(method === 'POST' ? 'application/json' : undefined);
      expect(seen?.header('accept-encoding')).toBe('identity');
      expect(seen?.header('connection')).toBe('keep-alive');
      expect(result.record).toMatchObject({ step, method, path, requestId: id, status: 200 });
      expect(result.record.target).toBe(seen?.target);
      expect(result.record.requestBody).toBe(seen?.body === '' ? undefined : seen?.body);
    },
  );

  it('carries the id that was committed for it, and none that is old', async () => {
    const client = aClient();
    const requestId = anId();
    const sent = await client.call(endpointOf(partner), DEDUCT, { requestId });
    expect(sent).toMatchObject({ verdict: 'verified', record: { requestId } });
    expect(partner.requests[0]?.header('x-api-request')).toBe(requestId);
    for (const skewMs of [-61_000, 61_000]) {
      const stale = anId(Date.now() + skewMs);
      const held = await client.call(endpointOf(partner), DEDUCT, { requestId: stale });
      expect(held).toMatchObject({ kind: 'nothing-sent', cause: 'stale-request-id' });
    }
    expect(partner.requests).toHaveLength(1);
  });

  it('takes the path of the base URL as it is', async () => {
    const client = aClient();
    for (const path of ['', '/', '/a%2Fb/', '/a//b']) {
      await client.call(endpointOf(partner, path), DEDUCT);
    }
    expect(partner.requests.map((seen) => seen.target)).toEqual(
      ['', '', '/a%2Fb', '/a//b'].map((base) => `${base}/deduct-points-by-address`),
    );
  });
});
