/** Batches of snapshots, and the history of a wallet, whose pages are compared with the events that they come from. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address, canonicalJson } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  addPrice,
  ANON_SECRET,
  type Api,
  NOON_MS,
  type Seed,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { answerTo, expectError, expectSigned, type RawAnswer } from '../testing/wire.support.js';

const SINGLE = '/api/staking/snapshots';
const BATCH = `${SINGLE}/batch`;
const HISTORY = '/api/staking/history';
const [ALICE, BOB, NOBODY] = [aWallet(0xabcdef), aWallet(2), aWallet(0x404)];
const CONTRACT = `eip155:31337:${aWallet(0xa1)}`;
const ANOTHER_CONTRACT = `eip155:5:0x${'9'.repeat(40)}`;
const CHANGES = 250;
const upper = (wallet: string): string => `0x${wallet.slice(2).toUpperCase()}`;

/** ALICE's stake changes by +3 and -2 in turn, every two hours; BOB's only event lies between them. */
const EVENTS = Array.from({ length: CHANGES + 1 }, (_, place): [string, Address, number] => {
  const iso = new Date(Date.parse('2026-10-01T00:00:00Z') + place * 7_200_000).toISOString();
  if (place === 100) return [iso, BOB, 5];
  const before = place > 100 ? place - 1 : place;
  return [iso, ALICE, before % 2 === 0 ? 3 : -2];
}) satisfies Seed['events'];

let api: Api;
let partner: MintedCredential;

beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  partner = await addPartner(api, 'lists', { rate: 1_000_000, burst: 1_000_000 });
  await seedIndex(api, { events: EVENTS, finalisedAt: '2026-11-21T00:00:00Z' });
  await addPrice(api, '0.25', '2026-11-21T12:00:00Z');
});
afterAll(() => api.stop());

const STRANGER: MintedCredential = { apiKey: 'svck_none', sharedSecret: ANON_SECRET };

describe(`POST ${BATCH}`, () => {
  interface Batch {
    readonly results: {
      readonly index: number;
      readonly status: number;
      readonly walletAddress?: string;
      readonly body: Record<string, unknown>;
    }[];
  }

  const ask = (walletAddresses: readonly unknown[], more: object = {}): Promise<Batch> =>
    api.as(partner).read(BATCH, { walletAddresses, ...more });
  const send = (body: object | string, type?: string): Promise<RawAnswer> =>
    api.as(partner).post(BATCH, body, type);

  it.each([
    [{}, ''],
    [{ lastDays: 30 }, '&lastDays=30'],
    [{ lastDays: 2, endDay: '2026-10-19' }, '&lastDays=2&endDay=2026-10-19'],
  ])(
    'answers each wallet as the single endpoint does, in the order asked: %j',
    async (more, query) => {
      const { results } = await ask([BOB, NOBODY, ALICE], more);
      expect(results).toHaveLength(3);
      for (const [place, wallet] of [BOB, NOBODY, ALICE].entries()) {
        const alone = await api.as(partner).ask(`${SINGLE}?walletAddress=${wallet}${query}`);
        const { index, body, status, walletAddress } = results[place] ?? {};
        expect([canonicalJson(body), status]).toEqual([alone.body, alone.status]);
        expect([index, walletAddress]).toEqual([place, wallet]);
      }
    },
  );

  it('says which days it is of, and from which state of the index it comes', async () => {
    const { headers, body } = await send({ walletAddresses: [NOBODY], lastDays: 3 });
    expect(JSON.parse(body)).toEqual({
      requestedAt: '2026-11-21T12:00:02.123Z',
      ...{ endDay: '2026-11-20', lastDays: 3, results: expect.any(Array) },
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      ...{ 'x-index-block': '1000', 'x-index-final': 'true' },
    });
  });

  it('answers a wallet once, at its first place, however it is written', async () => {
    const { results } = await ask([upper(BOB), ALICE, BOB, upper(ALICE), NOBODY, NOBODY]);
    expect(results.map(({ index, walletAddress }) => [index, walletAddress])).toEqual([
      [0, BOB],
      [1, ALICE],
      [4, NOBODY],
    ]);
  });

  it('answers what is no address with a 400 of its own, and the others all the same', async () => {
    const faulty = ['', 'x', `${ALICE}0`, 7, null, true, [ALICE], { ALICE }, '\ud800', '__proto__'];
    const { results } = await ask([...faulty, ALICE]);
    expect(results.pop()?.status).toBe(200);
    expect(results).toEqual(
      faulty.map((_, index) => ({
        ...{ index, status: 400 },
        body: {
          success: false,
          code: 'BAD_REQUEST',
          message: `walletAddresses[${index}] must be 0x and 40 hex digits.`,
        },
      })),
    );
  });

  it('answers a thousand wallets, each on an indented line', async () => {
    const wallets = Array.from({ length: 1000 }, (_, place) => aWallet(1_000_000 + place));
    wallets[500] = ALICE;
    const { status, body } = await send(JSON.stringify({ walletAddresses: wallets }, undefined, 4));
    expect(status).toBe(200);
    const { results } = JSON.parse(body) as Batch;
    expect(results.map(({ walletAddress }) => walletAddress)).toEqual(wallets);
    expect(results.filter((one) => one.status === 200).map(({ index }) => index)).toEqual([500]);
  });

  it('costs one message to the database, whatever is kept of its wallets', async () => {
    const cold = Array.from({ length: 100 }, (_, place) => aWallet(2_000_000 + place));
    await ask([ALICE]);
    await api.as(partner).read(`${SINGLE}?walletAddress=${ALICE}`);
    for (const wallets of [cold, [ALICE, ...cold], [ALICE]]) {
      const before = api.link.packets;
      await ask(wallets);
      expect(api.link.packets - before).toBe(1);
    }
  });

  it('names the contract that was asked for, and refuses one that is not indexed', async () => {
    const { results, ...of } = await ask([ALICE, NOBODY], { contract: CONTRACT });
    expect(of).toMatchObject({ contract: CONTRACT, chainId: 31_337 });
    expect(results[0]?.body).toMatchObject({ contract: CONTRACT });
    expect(results[1]?.body['message']).toContain(CONTRACT);
    const other = await send({ walletAddresses: [ALICE], contract: ANOTHER_CONTRACT });
    expectError(other, 404, 'CONTRACT_NOT_FOUND');
  });

  const of = (more: object) => ({ walletAddresses: [ALICE], ...more });
  const list = (count: number) => ({ walletAddresses: Array<string>(count).fill(ALICE) });
  it.each<[string, object | string, RegExp, [code: string, status: number]?]>([
    ['no list', {}, /a list of 1 to 1000/],
    ['an empty list', { walletAddresses: [] }, /a list of 1 to 1000/],
    ['a text in place of a list', { walletAddresses: ALICE }, /a list of 1 to 1000/],
    ['null', 'null', /a JSON object/],
    [
      'lastDays as a text',
      of({ lastDays: '7' }),
      /^lastDays must be a JSON number, without quotes: a whole number from 1 to 30\.$/,
    ],
    ['lastDays 0', of({ lastDays: 0 }), /from 1 to 30/],
    ['lastDays 31', of({ lastDays: 31 }), /from 1 to 30/],
    ['a huge lastDays', `{"walletAddresses":["${ALICE}"],"lastDays":1e400}`, /from 1 to 30/],
    ['a contract that is none', of({ contract: ALICE }), /eip155/],
    ['an endDay that is none', of({ endDay: 20_000 }), /endDay/],
    ['a day to come', of({ endDay: '2026-11-22' }), /future/],
    ['half of JSON', '{"walletAddresses":', /is not JSON: line 1, column 20, where it ends\.$/],
    ['nothing', '', /^The body must be a JSON object with walletAddresses\.$/],
    ['nesting', `{"walletAddresses":${'['.repeat(9000)}${']'.repeat(9000)}}`, /deeper than 32/],
    [
      '1001 wallets, though all be the same',
      list(1001),
      /^A batch has at most 1000 wallets; this one has 1001\.$/,
      ['BATCH_TOO_LARGE', 400],
    ],
    ['more than 64 KiB', list(2000), /./, ['BAD_REQUEST', 413]],
  ])('is refused with %s', async (_, body, message, [code, status] = ['BAD_REQUEST', 400]) => {
    const answer = await send(body);
    expectError(answer, status, code);
    expect((JSON.parse(answer.body) as { message: string }).message).toMatch(message);
  });

  it('is JSON in UTF-8, and of no other type', async () => {
    const json = JSON.stringify(list(1));
    for (const type of ['text/xml', 'text/plain', 'application/x-www-form-urlencoded', 'a']) {
      const other = await send(json, type);
      expectError(other, 415, 'BAD_REQUEST');
      expect(other.body).toContain('send application/json.');
    }
    expect((await send(json, 'Application/JSON; charset=utf-8')).status).toBe(200);
    const bytes = Buffer.from(`{"walletAddresses":["\xff\xfe\xc0\x80","${ALICE}"]}`, 'latin1');
    const head =
      `POST ${BATCH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-KEY: ${partner.apiKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    const answer = await answerTo(api.port, [Buffer.concat([Buffer.from(head), bytes])]);
    expectSigned(answer, { method: 'POST', path: BATCH, secret: partner.sharedSecret });
    expectError(answer, 400, 'BAD_REQUEST');
    expect(answer.body).toContain('The body is not JSON in UTF-8.');
  });

  it('is not looked at without a valid key', async () => {
    for (const body of [list(1), '{', list(1001)]) {
      expectError(await api.as(STRANGER).post(BATCH, body), 401, 'UNAUTHORIZED');
    }
  });

  it('has one answer while the index does not cover the window: 503 for all', async () => {
    api.clock.set(Date.parse('2026-11-22T12:00:00Z'));
    const answer = await send({ walletAddresses: [ALICE, 'x', NOBODY] });
    expectError(answer, 503, 'SERVICE_UNAVAILABLE');
    expect(answer.headers['retry-after']).toBe('5');
    // The days before are still covered.
    await ask([ALICE], { endDay: '2026-11-20' });
    api.clock.set(NOON_MS);
  });
});

describe(`GET ${HISTORY}`, () => {
  interface Page {
    readonly intervals: readonly { readonly fromBlock: number }[];
    readonly next?: number;
  }

  function expected(wallet: Address): Page['intervals'] {
    let balance = 0;
    const opened = EVENTS.flatMap(([iso, of, change], place) => {
      if (of !== wallet) return [];
      balance += change;
      return [{ fromBlock: place + 1, from: new Date(iso).toISOString(), stakedAmount: balance }];
    });
    return opened.map((one, place) => {
      const next = opened[place + 1];
      return { ...one, ...(next && { toBlock: next.fromBlock, to: next.from }) };
    });
  }

  const ask = (query: string, by = partner): Promise<RawAnswer> =>
    api.as(by).ask(`${HISTORY}?${query}`);
  const page = (query: string): Promise<Page> => api.as(partner).read(`${HISTORY}?${query}`);

  it('is all intervals, oldest first, the last one open', async () => {
    const { headers, body } = await ask(`walletAddress=${upper(ALICE)}&limit=1000`);
    expect(JSON.parse(body)).toEqual({
      walletAddress: ALICE,
      requestedAt: '2026-11-21T12:00:02.123Z',
      tokenSymbol: 'SVC',
      tokenContract: aWallet(0xa2),
      stakeContract: aWallet(0xa1),
      intervals: expected(ALICE),
    });
    expect(headers['x-index-block']).toBe('1000');
    expect(await page(`walletAddress=${BOB}&contract=${CONTRACT}`)).toMatchObject({
      ...{ contract: CONTRACT, chainId: 31_337, intervals: expected(BOB) },
    });
  });

  it.each([1, 125, 251])('comes by pages of %s, each once', async (limit) => {
    const found: object[] = [];
    let pages = 0;
    for (let after = ''; ;) {
      const { intervals, next } = await page(`walletAddress=${ALICE}&limit=${limit}${after}`);
      expect(intervals.length).toBeLessThanOrEqual(limit);
      found.push(...intervals);
      pages += 1;
      if (next === undefined) break;
      expect(next).toBe(intervals.at(-1)?.fromBlock);
      after = `&after=${next}`;
    }
    expect(found).toEqual(expected(ALICE));
    expect(pages).toBe(Math.ceil(CHANGES / limit));
  });

  it('has a hundred without a limit, and none after the last', async () => {
    expect((await page(`walletAddress=${ALICE}`)).intervals).toHaveLength(100);
    const end = await page(`walletAddress=${ALICE}&after=999999999999999`);
    expect([end.intervals, end.next]).toEqual([[], undefined]);
  });

  it('is one message to the database', async () => {
    await page(`walletAddress=${ALICE}`);
    const before = api.link.packets;
    await page(`walletAddress=${ALICE}&limit=1000`);
    expect(api.link.packets - before).toBe(1);
  });

  it('is a 404 for a wallet that never staked, and for a contract that is not indexed', async () => {
    const { status, body } = await ask(`walletAddress=${NOBODY}`);
    expect([status, body]).toEqual([
      404,
      `{"code":"NOT_FOUND","message":"No staking data for wallet ${NOBODY}","requestedAt":"2026-11-21T12:00:02.123Z","success":false}`,
    ]);
    const other = await ask(`walletAddress=${ALICE}&contract=${ANOTHER_CONTRACT}`);
    expectError(other, 404, 'CONTRACT_NOT_FOUND');
  });

  it.each([
    ...['', 'walletAddress=', `walletAddress=${ALICE}0`],
    ...[
      `walletAddress=${ALICE}&walletAddress=${ALICE}`,
      `walletAddress=${ALICE}&contract=${ALICE}`,
    ],
    ...['0', '1001', '1.5', '', '5&limit=5'].map((text) => `walletAddress=${ALICE}&limit=${text}`),
    ...['', '-1', 'x', '1.0', '0x1', '9'.repeat(16), '1%00', '1&after=1', "1'--"].map(
      (after) => `walletAddress=${ALICE}&after=${after}`,
    ),
  ])('refuses %p', async (query) => {
    expectError(await ask(query), 400, 'BAD_REQUEST');
  });

  it('asks for the key before anything else, and is a 503 while the index is behind', async () => {
    expectError(await ask('limit=x', STRANGER), 401, 'UNAUTHORIZED');
    api.clock.set(Date.parse('2026-11-21T12:10:00Z'));
    expectError(await ask(`walletAddress=${ALICE}`), 503, 'SERVICE_UNAVAILABLE');
    api.clock.set(NOON_MS);
  });
});
