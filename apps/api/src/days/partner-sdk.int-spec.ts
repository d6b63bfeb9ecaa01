/** The partner SDK reads sealed days, directly and through a proxy that changes questions and answers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LowmarkApiError,
  type SealedDay,
  SignatureError,
  StakingClient,
  UnexpectedAnswerError,
} from '#libs/partner-sdk';
import { dayText, type Keccak256 } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { addPartner, type Api, startApi } from '../testing/api-harness.support.js';
import { ProxyBetween } from '../testing/proxy-between.support.js';
import { FIRST, LAST, sealDays, treeOf } from '../testing/sealed-days.support.js';

const DAY = dayText(FIRST + 2);

let api: Api;
let proxy: ProxyBetween;
let credential: MintedCredential;
let client: StakingClient;
let keccak: Keccak256;

beforeAll(async () => {
  api = await startApi();
  credential = await addPartner(api, 'behind a proxy');
  proxy = await ProxyBetween.start(api);
  client = proxy.client(credential, { clock: api.clock });
  keccak = await createKeccak256();
  await sealDays(api, keccak);
});
beforeEach(() => {
  proxy.reset();
});
afterAll(async () => {
  proxy.stop();
  await api.stop();
});

async function listed(query: { from?: string; to?: string } = {}): Promise<string[]> {
  const found: SealedDay[] = [];
  for await (const day of client.days(query)) found.push(day);
  return found.map(({ day }) => day);
}

async function walletsOf(day: string): Promise<number> {
  let count = 0;
  for await (const { low } of client.dayWallets(day)) count += low > 0n ? 1 : 0;
  return count;
}

async function expectRefused(asked: Promise<unknown>, fault: string): Promise<void> {
  const error = await asked.then(
    (value) => ({ accepted: value }),
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(UnexpectedAnswerError);
  expect((error as Error).message).toContain(fault);
}

it('reads a day, and says of others what the service says', async () => {
  const { root } = treeOf(5, keccak);
  expect(await client.day(dayText(FIRST + 3))).toMatchObject({ root, revision: 2, chainId: 31337 });
  const early = await client.day(dayText(LAST)).catch((error: unknown) => error);
  expect(early).toBeInstanceOf(LowmarkApiError);
  expect(early).toMatchObject({ status: 409, code: 'DAY_NOT_SEALED', retryAfterSeconds: 60 });
});

it('proves what a wallet held, and that it held nothing', async () => {
  const { root } = treeOf(3000, keccak);
  expect(await client.proof(DAY, aWallet(3 * 1023), { root })).toMatchObject({ low: '3069' });
  expect(await client.proof(DAY, aWallet(3 * 1023 + 1), { root })).toMatchObject({ low: '0' });
});

it('refuses a page that a changed question left days out of', async () => {
  const all = [3, 2, 1, 0].map((place) => dayText(FIRST + place));
  expect(await listed()).toEqual(all);
  expect(await listed({ from: dayText(FIRST + 1) })).toEqual(all.slice(0, -1));
  proxy.question = ({ target, body }) => ({ target: `${target}&before=${DAY}`, body });
  await expectRefused(listed(), 'before');
  proxy.question = ({ target, body }) => ({
    target: target.replace(/before=[\d-]+/, `before=${DAY}`),
    body,
  });
  await expectRefused(listed({ to: dayText(FIRST + 3) }), 'before');
  proxy.question = ({ target, body }) => ({ target: target.replace('366', '2'), body });
  await expectRefused(listed(), 'next');
});

it('refuses pages that have changed places', async () => {
  await listed({ to: dayText(FIRST + 1) });
  const [before] = proxy.given;
  proxy.answer = (given) => before ?? given;
  await expectRefused(listed(), 'before');
  await expectRefused(listed({ to: dayText(FIRST + 3) }), 'before');
});

it('refuses another day, and another wallet', async () => {
  proxy.question = ({ target, body }) => ({
    target: target.replace(aWallet(3), aWallet(6)),
    body,
  });
  await expectRefused(client.proof(DAY, aWallet(3)), 'walletAddress is not');
});

it.each<[string, () => Promise<unknown>]>([
  ['a page', () => listed()],
  ['a day', () => client.day(DAY)],
  ['a proof', () => client.proof(DAY, aWallet(3))],
  ['a list', () => walletsOf(DAY)],
])('refuses an answer of before, which may be of an older revision: %s', async (_, ask) => {
  const first = await ask();
  const [before] = proxy.given;
  api.clock.advance(3_600_000);
  expect(await ask()).toEqual(first);
  proxy.answer = (given) => before ?? given;
  await expectRefused(ask(), 'requestedAt is more than 300 s from the clock here');
});

describe('with message signatures', () => {
  it('takes answers that bear its nonce', async () => {
    const bound = new StakingClient({ baseUrl: api.url, ...credential, messageSignatures: true });
    expect(await bound.proof(DAY, aWallet(3))).toMatchObject({ low: '3' });
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
