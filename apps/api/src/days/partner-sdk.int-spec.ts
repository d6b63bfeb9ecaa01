/** The partner SDK reads sealed days from the real service. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LowmarkApiError, SignatureError, StakingClient } from '#libs/partner-sdk';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing';
import { dayText, type Keccak256 } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { addPartner, type Api, startApi } from '../testing/api-harness.support.js';
import { FIRST, LAST, sealDays, treeOf } from '../testing/sealed-days.support.js';

let api: Api;
let credential: MintedCredential;
let client: StakingClient;
let keccak: Keccak256;

beforeAll(async () => {
  api = await startApi();
  credential = await addPartner(api, 'sdk of days');
  client = new StakingClient({ baseUrl: api.url, ...credential, clock: api.clock });
  keccak = await createKeccak256();
  await sealDays(api, keccak);
});
afterAll(() => api.stop());

it('lists the sealed days, the newest first', async () => {
  const days = [];
  for await (const { day, revision } of client.days({ from: dayText(FIRST + 1) })) {
    days.push([day, revision]);
  }
  expect(days).toEqual([
    [dayText(FIRST + 3), 2],
    [dayText(FIRST + 2), 1],
    [dayText(FIRST + 1), 1],
  ]);
});

it('reads a day, and says of others what the service says', async () => {
  const { root } = treeOf(5, keccak);
  expect(await client.day(dayText(FIRST + 3))).toMatchObject({ root, revision: 2, chainId: 31337 });
  const early = await client.day(dayText(LAST)).catch((error: unknown) => error);
  expect(early).toBeInstanceOf(LowmarkApiError);
  expect(early).toMatchObject({ status: 409, code: 'DAY_NOT_SEALED', retryAfterSeconds: 60 });
});

it('proves what a wallet held, and that it held nothing', async () => {
  const { root } = treeOf(3000, keccak);
  const day = dayText(FIRST + 2);
  expect(await client.proof(day, aWallet(3 * 1023), { root })).toMatchObject({ low: '3069' });
  expect(await client.proof(day, aWallet(3 * 1023 + 1), { root })).toMatchObject({ low: '0' });
});

describe('with message signatures', () => {
  it('takes answers that bear its nonce', async () => {
    const bound = new StakingClient({ baseUrl: api.url, ...credential, messageSignatures: true });
    const day = dayText(FIRST + 2);
    expect(await bound.proof(day, aWallet(3))).toMatchObject({ low: '3' });
    const early = await bound.day(dayText(LAST)).catch((error: unknown) => error);
    expect(early).toMatchObject({ code: 'DAY_NOT_SEALED' });
  });

  it.each<[string, (request: Request) => Request]>([
    [
      'another query was asked',
      ({ url, headers }) => new Request(url.replace('limit=366', 'limit=365'), { headers }),
    ],
    [
      'another nonce was asked for',
      ({ url, headers }) => {
        headers.set('accept-signature', 'sig=();alg="hmac-sha256";nonce="before"');
        return new Request(url, { headers });
      },
    ],
    [
      'none was asked for',
      ({ url, headers }) => {
        headers.delete('accept-signature');
        return new Request(url, { headers });
      },
    ],
  ])('takes none where %s on the way', async (_, changed) => {
    const between: typeof fetch = (url, init) => fetch(changed(new Request(url, init)));
    const options = { baseUrl: api.url, ...credential, fetch: between };
    const days = new StakingClient({ ...options, messageSignatures: true }).days();
    const refused = await days.next().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SignatureError);
    expect(refused).toMatchObject({
      message: expect.stringContaining('no HTTP Message Signature for this request'),
    });
  });
});
