/** `POST /api/staking/snapshots/batch`: its answers, and its handling of malformed bodies. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { type Address, canonicalJson } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  addPrice,
  ANON_SECRET,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { answerTo, expectError, expectSigned } from '../testing/wire.support.js';

const SINGLE = '/api/staking/snapshots';
const PATH = `${SINGLE}/batch`;
const [ALICE, BOB, NOBODY] = [aWallet(0xabcdef), aWallet(2), aWallet(0x404)];

interface Result {
  readonly index: number;
  readonly status: number;
  readonly walletAddress?: string;
  readonly body: Record<string, unknown>;
}

let api: Api;
let partner: MintedCredential;

beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  partner = await addPartner(api, 'batch', { rate: 1_000_000, burst: 1_000_000 });
  await seedIndex(api, {
    events: [
      ['2026-11-14T10:00:00Z', ALICE, 100],
      ['2026-11-15T09:00:00Z', ALICE, 200],
      ['2026-11-18T20:00:00Z', BOB, 5],
      ['2026-11-20T00:00:00Z', BOB, -5],
    ],
    headAt: '2026-11-21T12:00:00Z',
    finalisedAt: '2026-11-21T00:00:00Z',
  });
  await addPrice(api, '0.25', '2026-11-21T12:00:00Z');
});
afterAll(() => api.stop());

function send(body: object | string, key = partner.apiKey): request.Test {
  const test = request(api.url).post(PATH).set('Content-Type', 'application/json');
  return test.set('X-API-KEY', key).send(body);
}

async function ask(walletAddresses: readonly unknown[], more: object = {}): Promise<Response> {
  const response = await send({ walletAddresses, ...more }).expect(200);
  expectSignedAs(response);
  return response;
}

const resultsOf = ({ body }: Response): Result[] => (body as { results: Result[] }).results;

function expectSignedAs(response: Response, secret = partner.sharedSecret): void {
  expectSigned(response, { method: 'POST', path: PATH, secret });
}

const single = (wallet: Address, query = ''): Promise<Response> =>
  request(api.url)
    .get(`${SINGLE}?walletAddress=${wallet}${query}`)
    .set('X-API-KEY', partner.apiKey)
    .then((response) => response);

const mixed = (wallet: Address): string => `0x${wallet.slice(2).toUpperCase()}`;

describe('POST /api/staking/snapshots/batch', () => {
  it('answers each wallet as the single endpoint does, in the order asked', async () => {
    for (const [more, query] of [
      [{}, ''],
      [{ lastDays: 30 }, '&lastDays=30'],
      [{ lastDays: 2, endDay: '2026-11-19' }, '&lastDays=2&endDay=2026-11-19'],
    ] as const) {
      const response = await ask([BOB, NOBODY, ALICE], more);
      const results = resultsOf(response);
      expect(results.map(({ index, status }) => [index, status])).toEqual([
        [0, 200],
        [1, 404],
        [2, 200],
      ]);
      for (const [place, wallet] of [BOB, NOBODY, ALICE].entries()) {
        const alone = await single(wallet, query);
        expect(canonicalJson(results[place]?.body)).toBe(alone.text);
        expect(results[place]?.walletAddress).toBe(wallet);
        expect(results[place]?.status).toBe(alone.status);
      }
    }
  });

  it('says which days it is of, and from which state of the index it comes', async () => {
    const response = await ask([NOBODY], { lastDays: 3 });
    expect(response.body).toMatchObject({
      requestedAt: '2026-11-21T12:00:02.123Z',
      endDay: '2026-11-20',
      lastDays: 3,
    });
    expect(response.body).not.toHaveProperty('contract');
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers['x-index-block']).toBe('1000');
    expect(response.headers['x-index-final']).toBe('true');
  });

  it('answers a wallet once, at its first place, however it is written', async () => {
    const results = resultsOf(await ask([mixed(BOB), ALICE, BOB, mixed(ALICE), NOBODY, NOBODY]));
    expect(results.map(({ index, walletAddress }) => [index, walletAddress])).toEqual([
      [0, BOB],
      [1, ALICE],
      [4, NOBODY],
    ]);
  });

  it('answers what is no address with a 400 of its own, and the others all the same', async () => {
    const faulty = ['', 'x', `${ALICE}0`, 7, null, true, [ALICE], { ALICE }, '\ud800', '__proto__'];
    const results = resultsOf(await ask([...faulty, ALICE]));
    expect(results.map(({ status }) => status)).toEqual([...faulty.map(() => 400), 200]);
    for (const [place, result] of results.slice(0, -1).entries()) {
      expect(result).toEqual({
        index: place,
        status: 400,
        body: {
          success: false,
          code: 'BAD_REQUEST',
          message: `walletAddresses[${place}] must be 0x and 40 hex digits.`,
        },
      });
    }
  });

  it('answers a thousand wallets, each on an indented line', async () => {
    const wallets = Array.from({ length: 1000 }, (_, place) => aWallet(1_000_000 + place));
    wallets[500] = ALICE;
    const body = JSON.stringify({ walletAddresses: wallets }, undefined, 4);
    const response = await send(body).expect(200);
    expectSignedAs(response);
    const results = resultsOf(response);
    expect(results.map(({ walletAddress }) => walletAddress)).toEqual(wallets);
    expect(results.filter(({ status }) => status === 200).map(({ index }) => index)).toEqual([500]);
  });

  it('costs one message to the database, whatever is kept of its wallets', async () => {
    const cold = Array.from({ length: 100 }, (_, place) => aWallet(2_000_000 + place));
    await ask([ALICE]);
    await single(ALICE);
    for (const wallets of [cold, [ALICE, ...cold], [ALICE]]) {
      const before = api.link.packets;
      await ask(wallets);
      expect(api.link.packets - before).toBe(1);
    }
  });

  it('names the contract that was asked for, and refuses one that is not indexed', async () => {
    const contract = `eip155:31337:${aWallet(0xa1)}`;
    const state = await api.database.open();
    const [{ chain_id: chainId } = { chain_id: 0 }] = await state.query<{ chain_id: string }>({
      text: 'SELECT chain_id FROM staking.index_state',
    });
    const account = contract.replace('31337', String(chainId));
    const response = await ask([ALICE, NOBODY], { contract: account });
    expect(response.body).toMatchObject({ contract: account, chainId: Number(chainId) });
    const [found, none] = resultsOf(response);
    expect(found?.body).toMatchObject({ contract: account });
    expect(none?.body['message']).toContain(account);
    const other = await send({
      walletAddresses: [ALICE],
      contract: 'eip155:5:0x' + '9'.repeat(40),
    });
    expectError(other, 404, 'CONTRACT_NOT_FOUND');
    expectSignedAs(other);
  });
});

describe('a batch that cannot be meant', () => {
  const list = (count: number): string[] => Array<string>(count).fill(ALICE);
  const refused: [string, object | string, RegExp][] = [
    ['no list', {}, /a list of 1 to 1000/],
    ['an empty list', { walletAddresses: [] }, /a list of 1 to 1000/],
    ['a text in place of a list', { walletAddresses: ALICE }, /a list of 1 to 1000/],
    ['null', 'null', /a JSON object/],
    ['lastDays as a text', { walletAddresses: [ALICE], lastDays: '7' }, /from 1 to 30/],
    ['lastDays 0', { walletAddresses: [ALICE], lastDays: 0 }, /from 1 to 30/],
    ['lastDays 31', { walletAddresses: [ALICE], lastDays: 31 }, /from 1 to 30/],
    ['a huge lastDays', `{"walletAddresses":["${ALICE}"],"lastDays":1e400}`, /from 1 to 30/],
    ['a contract that is none', { walletAddresses: [ALICE], contract: ALICE }, /eip155/],
    ['an endDay that is none', { walletAddresses: [ALICE], endDay: 20_000 }, /endDay/],
    ['a day to come', { walletAddresses: [ALICE], endDay: '2026-11-22' }, /future/],
    ['half of JSON', '{"walletAddresses":', /is not JSON: line 1, column 20, where it ends\.$/],
    ['nothing', '', /^The body must be a JSON object with walletAddresses\.$/],
    ['nesting', `{"walletAddresses":${'['.repeat(9000)}${']'.repeat(9000)}}`, /deeper than 32/],
  ];

  it.each(refused)('is refused: %s', async (_, body, message) => {
    const response = await send(body);
    expectSignedAs(response);
    expectError(response, 400, 'BAD_REQUEST');
    expect((response.body as { message: string }).message).toMatch(message);
  });

  it('is refused with 1001 wallets, though all be the same', async () => {
    const response = await send({ walletAddresses: list(1001) });
    expectError(response, 400, 'BATCH_TOO_LARGE');
    expect((response.body as { message: string }).message).toBe(
      'A batch has at most 1000 wallets; this one has 1001.',
    );
    expectSignedAs(response);
  });

  it('is refused beyond 64 KiB, and of another type', async () => {
    const large = await send({ walletAddresses: list(2000) });
    expectError(large, 413, 'BAD_REQUEST');
    expectSignedAs(large);
    const json = JSON.stringify({ walletAddresses: [ALICE] });
    for (const type of ['text/xml', 'text/plain', 'application/x-www-form-urlencoded', 'a']) {
      const other = await send(json).set('Content-Type', type);
      expectError(other, 415, 'BAD_REQUEST');
      expect(other.text).toContain('send application/json.');
      expectSignedAs(other);
    }
    await send(json).set('Content-Type', 'Application/JSON; charset=utf-8').expect(200);
  });

  it('is refused where it is not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"walletAddresses":["'),
      Buffer.from([0xff, 0xfe, 0xc0, 0x80]),
      Buffer.from(`","${ALICE}"]}`),
    ]);
    const head =
      `POST ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-KEY: ${partner.apiKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    const answer = await answerTo(api.port, [Buffer.concat([Buffer.from(head), bytes])]);
    expectSigned(answer, { method: 'POST', path: PATH, secret: partner.sharedSecret });
    expectError(answer, 400, 'BAD_REQUEST');
    expect(answer.body).toContain('The body is not JSON in UTF-8.');
  });

  it('is not looked at without a valid key', async () => {
    for (const body of [{ walletAddresses: [ALICE] }, '{', { walletAddresses: list(1001) }]) {
      const response = await send(body, 'svck_none');
      expectError(response, 401, 'UNAUTHORIZED');
      expectSignedAs(response, ANON_SECRET);
    }
  });

  it('has one answer while the index does not cover the window: 503 for all', async () => {
    api.clock.set(Date.parse('2026-11-22T12:00:00Z'));
    const response = await send({ walletAddresses: [ALICE, 'x', NOBODY] });
    expectError(response, 503, 'SERVICE_UNAVAILABLE');
    expect(response.headers['retry-after']).toBe('5');
    expectSignedAs(response);
    // The days before are still covered.
    await ask([ALICE], { endDay: '2026-11-20' });
    api.clock.set(Date.parse('2026-11-21T12:00:02.123Z'));
  });
});
