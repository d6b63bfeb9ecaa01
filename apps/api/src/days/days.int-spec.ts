/** Sealed days, proofs of wallets, and the lists of days in all their forms. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { clearFindings, recordFinding } from '#libs/db';
import {
  type Address,
  dayText,
  type DayTree,
  type Keccak256,
  type NodeHash,
  provenLow,
} from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { LowmarkApiError, StakingClient } from '#libs/partner-sdk';
import { hmacSha256Hex, type MintedCredential } from '#libs/signing';
import { aBlock, aWallet } from '#libs/testing/database';
import { addPartner, type Api, startApi } from '../testing/api-harness.support.js';
import { askList, listPath } from '../testing/list-client.support.js';
import { FIRST, LAST, startSealing, treeOf } from '../testing/sealed-days.support.js';
import { expectError, type RawAnswer } from '../testing/wire.support.js';

const DAYS = '/api/staking/days';
const MANY = 45_000;
/** The list of the first day is removed, `REVISED` is sealed twice, and `LAST` is not sealed. */
const [EMPTY, MEDIUM, REVISED, LARGE] = [FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 4];
const at = (day: number): string => `${DAYS}/${dayText(day)}`;

let api: Api;
let partner: MintedCredential;
let keccak: Keccak256;
let medium: DayTree;

beforeAll(async () => {
  keccak = await createKeccak256();
  api = await startApi();
  partner = await addPartner(api, 'days', { rate: 10_000, burst: 100_000 });
  const sealer = await startSealing(api);
  medium = treeOf(3000, keccak);
  await sealer.seal(FIRST, treeOf(3, keccak));
  await sealer.seal(EMPTY, treeOf(0, keccak));
  await sealer.seal(MEDIUM, medium);
  for (const wallets of [4, 5]) await sealer.seal(REVISED, treeOf(wallets, keccak));
  await sealer.seal(LARGE, treeOf(MANY, keccak));
  await sealer.forgetLists(EMPTY);
});
afterAll(() => api.stop());

const ask = (target: string): Promise<RawAnswer> => api.as(partner).ask(target);
const read = <T>(target: string): Promise<T> => api.as(partner).read<T>(target);

describe(DAYS, () => {
  it('lists the newest first, each in its newest revision, page by page', async () => {
    const seen: unknown[] = [];
    for (let before = ''; ;) {
      const target = `${DAYS}?limit=3${before}`;
      const page = await read<{ days: { day: string; revision: number }[]; next?: string }>(target);
      seen.push(...page.days.map(({ day, revision }) => [day, revision]));
      if (page.next === undefined) break;
      before = `&before=${page.next}`;
    }
    expect(seen).toEqual(
      [LARGE, REVISED, MEDIUM, EMPTY, FIRST].map((day) => [dayText(day), day === REVISED ? 2 : 1]),
    );
  });

  it('tells a day with its root, its figures and the revision before', async () => {
    expect((await read<{ day: unknown }>(at(REVISED))).day).toEqual({
      day: dayText(REVISED),
      ...{ revision: 2, wallets: 5, total: '45', software: '1.2.3' },
      root: treeOf(5, keccak).root,
      previousRoot: treeOf(4, keccak).root,
      blockNumber: 4,
      blockHash: aBlock(4).hash,
      sealedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it('says of a day that is not sealed when it can be', async () => {
    const over = await ask(at(LAST));
    expectError(over, 409, 'DAY_NOT_SEALED');
    expect(over.headers['retry-after']).toBe('60');
    const today = await ask(`${at(LAST + 1)}/proof?walletAddress=${aWallet(3)}`);
    expectError(today, 409, 'DAY_NOT_OVER');
    expect(today.body).toContain('after 2026-11-21T23:59:59.999Z');
    // Seconds from the test's clock, two seconds and 123 ms after noon, to the end of the day, rounded up.
    expect(today.headers['retry-after']).toBe('43198');
    const last = await ask(`${DAYS}/9999-12-31`);
    expectError(last, 409, 'DAY_NOT_OVER');
    expect(last.body).toContain('after 9999-12-31T23:59:59.999Z');
  });

  it('says of a day before the first one that there is none', async () => {
    for (const target of [at(FIRST - 1), `${DAYS}/1970-01-01`]) {
      expectError(await ask(target), 404, 'DAY_NOT_FOUND');
    }
  });

  const LIMIT = 'limit must be a whole number from 1 to 366 in plain digits.';
  const DAY = 'a day of the calendar from 1970 on, such as 2026-11-21.';
  it.each([
    ['?limit=0', LIMIT],
    ['?limit=367', LIMIT],
    ['?limit=1&limit=2', LIMIT.replace('be', 'be given at most once:')],
    ['?before=yesterday', `before must be ${DAY}`],
    ['?before=2026-11-20&before=2026-11-20', `before must be given at most once: ${DAY}`],
    ['?contract=0x', 'contract must be eip155:,'],
    ['/2026-02-30', `day must be ${DAY}`],
    ['/2026-11-20/proof', 'walletAddress must be given: 0x and 40 hex digits.'],
    ['/2026-11-20/proof?walletAddress=0x12', 'walletAddress must be 0x and 40 hex digits.'],
    [`/${'1'.repeat(90)}`, `day must be ${DAY}`],
  ])('refuses %s', async (target, message) => {
    const answer = await ask(DAYS + target);
    expectError(answer, 400, 'BAD_REQUEST');
    expect(answer.body).toContain(`"message":"${message}`);
  });

  it('is for partners', async () => {
    for (const target of [DAYS, `${DAYS}/2026-11-20`, `${DAYS}/x/proof`]) {
      expectError(await api.as().ask(target), 401, 'UNAUTHORIZED');
    }
  });

  it('says which contract was asked for, and knows none that is not indexed', async () => {
    const upper = `eip155:31337:0x${aWallet(0xa1).slice(2).toUpperCase()}`;
    const contract = upper.toLowerCase();
    expect(await read(`${at(REVISED)}?contract=${upper}`)).toMatchObject({ contract });
    expect(await read(at(REVISED))).not.toHaveProperty('contract');
    const other = await ask(`${DAYS}?contract=eip155:1:0x${'9'.repeat(40)}`);
    expectError(other, 404, 'CONTRACT_NOT_FOUND');
  });

  it('is not answered under the contract that was asked for when the set is indexed again for another', async () => {
    const database = await api.database.open();
    const index = (contract: Address) =>
      database.pool.query('UPDATE staking.index_state SET stake_contract = $1', [
        Buffer.from(contract.slice(2), 'hex'),
      ]);
    const [before, after] = [aWallet(0xa1), aWallet(0xa2)];
    const target = `${at(REVISED)}?contract=eip155:31337:${before}`;
    expect(await read(target)).toMatchObject({ stakeContract: before });
    await index(after);
    try {
      expectError(await ask(target), 503, 'SERVICE_UNAVAILABLE');
      api.clock.advance(6000);
      expectError(await ask(target), 404, 'CONTRACT_NOT_FOUND');
    } finally {
      await index(before);
      api.clock.advance(6000);
    }
  });

  it('is not told while a wallet is known to be wrong, nor after the repair until it is worked out again', async () => {
    const database = await api.database.open();
    const statuses = async (): Promise<number[]> =>
      (await Promise.all([EMPTY, MEDIUM].map((day) => ask(at(day))))).map(({ status }) => status);
    const text = 'INSERT INTO staking.doubtful_day VALUES ($1)';
    await database.query({ text, values: [MEDIUM] });
    expect(await statuses()).toEqual([200, 503]);
    await database.query({ text: 'DELETE FROM staking.doubtful_day' });
    await recordFinding(database, [aWallet(1)], 'test');
    expect(await statuses()).toEqual([503, 503]);
    await clearFindings(database, 'all');
    expect(await statuses()).toEqual([200, 200]);
  });
});

describe(`${DAYS}/{day}/proof`, () => {
  interface Proof {
    readonly low: string;
    readonly walletAddress: string;
    readonly day: { readonly root: NodeHash };
    readonly leaf: { readonly wallet: Address; readonly low: string; readonly next: Address };
    readonly proof: NodeHash[];
  }

  const proofOf = (day: number, wallet: string): Promise<Proof> =>
    read(`${at(day)}/proof?walletAddress=${wallet}`);

  it.each([
    ['the first', 3],
    ['one in the middle, at the end of a chunk', 3 * 1023],
    ['the last', 9000],
    ['one below all', 1],
    ['one between two', 3 * 1023 + 1],
    ['one above all', 9001],
  ])('leads to the root: %s', async (_, number) => {
    const wallet = aWallet(number);
    const { low, leaf, proof, day, walletAddress } = await proofOf(MEDIUM, wallet);
    const isThere = number % 3 === 0 && number <= 9000;
    expect([walletAddress, low]).toEqual([wallet, isThere ? String(number) : '0']);
    expect(day.root).toBe(medium.root);
    const given = { root: day.root, leaf: { ...leaf, low: BigInt(leaf.low) }, proof };
    expect(provenLow(wallet, given, keccak)).toBe(BigInt(low));
    // The leaf proves nothing about another wallet.
    expect(provenLow(aWallet(6000), given, keccak)).toBeUndefined();
  });

  it('takes a wallet in any capitals, and is of the newest revision', async () => {
    const { walletAddress, low } = await proofOf(
      REVISED,
      aWallet(15).toUpperCase().replace('X', 'x'),
    );
    expect([walletAddress, low]).toEqual([aWallet(15), '15']);
  });
});

it.each([false, true])('the partner SDK reads it, message signatures: %s', async (isBound) => {
  const options = { baseUrl: api.url, clock: api.clock, retries: 0, messageSignatures: isBound };
  const sdk = new StakingClient({ ...options, ...partner });
  const [early, revised, day] = [LAST, REVISED, MEDIUM].map(dayText) as [string, string, string];
  expect(await sdk.day(revised)).toMatchObject({ revision: 2, chainId: 31337 });
  const refused = await sdk.day(early).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(LowmarkApiError);
  expect(refused).toMatchObject({ status: 409, code: 'DAY_NOT_SEALED', retryAfterSeconds: 60 });
  const { root } = medium;
  expect(await sdk.proof(day, aWallet(3 * 1023), { root })).toMatchObject({ low: '3069' });
  expect(await sdk.proof(day, aWallet(3 * 1023 + 1), { root })).toMatchObject({ low: '0' });
  const seen: string[] = [];
  for await (const one of sdk.days({ from: dayText(EMPTY) })) seen.push(one.day);
  expect(seen).toEqual([LARGE, REVISED, MEDIUM, EMPTY].map(dayText));
  let wallets = 0;
  for await (const { low } of sdk.dayWallets(day)) if (low > 0n) wallets += 1;
  expect(wallets).toBe(3000);
});

describe('the contract', () => {
  it.each([
    ['/api/staking/days', DAYS],
    ['/api/staking/days/{day}', at(REVISED)],
    ['/api/staking/days/{day}/proof', `${at(REVISED)}/proof?walletAddress=${aWallet(4)}`],
  ])('describes what %s answers', async (path, target) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(JSON.parse(readFileSync('docs/wire/openapi.json', 'utf8')) as object, 'openapi');
    const pointer = `openapi#/paths/${path.replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`;
    const validate = ajv.getSchema(pointer);
    expect([validate?.(await read(target)), validate?.errors]).toEqual([true, null]);
  });

  it('is shown by an example in days.md', async () => {
    const example = /```json\n(.*?)```/s.exec(readFileSync('docs/wire/days.md', 'utf8'))?.[1];
    const shown = JSON.parse(example ?? '') as { day: object };
    const answered = await read<{ day: object }>(at(FIRST));
    expect(Object.keys(shown)).toEqual(Object.keys(answered));
    expect(Object.keys(shown.day)).toEqual(Object.keys(answered.day));
  });
});

describe('the list of a day', () => {
  const ask = (target: string, headers = {}, method = 'GET'): Promise<RawAnswer> =>
    askList(api.url + target, partner.apiKey, headers, method);

  function expectSignedHead({ headers }: RawAnswer, path: string, method = 'GET'): void {
    const content = method + path + (headers['x-sealed-day'] ?? '');
    expect(headers['x-api-signature']).toBe(hmacSha256Hex(partner.sharedSecret, content));
  }

  const lows = (): [string, bigint][] =>
    [...medium.leaves.list].map(({ wallet, low }) => [wallet, low]);

  it('is one JSON object for each wallet, in their order, and names the day as it is told by itself', async () => {
    const { status, headers, body } = await ask(listPath(MEDIUM));
    expect(status).toBe(200);
    expectSignedHead({ status, headers, body }, listPath(MEDIUM));
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-length': String(body.length),
      'accept-ranges': 'bytes',
      vary: 'Accept-Encoding',
      etag: `"${medium.root.slice(2)}.ndjson"`,
      'cache-control': 'private, no-cache',
      'x-sealed-day': (await api.as(partner).ask(at(MEDIUM))).body,
    });
    const lines = body.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
      lows().map(([walletAddress, low]) => ({ walletAddress, low: String(low) })),
    );
  });

  it('is CSV as well', async () => {
    const answer = await ask(listPath(MEDIUM, 'csv'));
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    const [header, ...rows] = answer.body.trimEnd().split('\r\n');
    expect(header).toBe('walletAddress,low');
    const read = rows.map((row) => row.split(','));
    expect(read.map(([wallet, low]) => [wallet, BigInt(low ?? '')])).toEqual(lows());
  });

  it('is empty where no wallet has anything', async () => {
    expect(await ask(listPath(EMPTY))).toMatchObject({ status: 200, body: '' });
    const csv = await ask(listPath(EMPTY, 'csv'));
    expect(csv).toMatchObject({ status: 200, body: 'walletAddress,low\r\n' });
    const ranged = await ask(listPath(EMPTY), { range: 'bytes=0-' });
    expectError(ranged, 416, 'RANGE_NOT_SATISFIABLE');
    expect(ranged.headers['content-range']).toBe('bytes */0');
  });

  it('is packed for those who ask for it, and the same then', async () => {
    const headers = { 'x-api-key': partner.apiKey, 'accept-encoding': 'gzip' };
    const request = get(api.url + listPath(MEDIUM), { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.headers).toMatchObject({
      'content-encoding': 'gzip',
      etag: `W/"${medium.root.slice(2)}.ndjson.gz"`,
    });
    expect(response.headers).not.toHaveProperty('content-length');
    const plain = await ask(listPath(MEDIUM));
    expect(gunzipSync(await buffer(response)).toString()).toBe(plain.body);
  });

  it('is not sent to those who have it', async () => {
    const { etag = '' } = (await ask(listPath(MEDIUM))).headers;
    const again = await ask(listPath(MEDIUM), { 'if-none-match': etag });
    expect(again).toMatchObject({ status: 304, body: '', headers: { etag } });
    expectSignedHead(again, listPath(MEDIUM));
  });

  it('has its headers by HEAD', async () => {
    const answer = await ask(listPath(LARGE), { range: 'bytes=1-2' }, 'HEAD');
    expect(answer.status).toBe(200);
    expectSignedHead(answer, listPath(LARGE), 'HEAD');
    const { body, headers } = await ask(listPath(LARGE));
    expect(answer.headers).toMatchObject({
      ...{ 'content-length': String(body.length), etag: headers['etag'] },
    });
  });

  it('is signed as Accept-Signature asks, without a digest', async () => {
    const answer = await ask(listPath(MEDIUM), { 'accept-signature': 'sig=()' });
    expect(answer.headers['signature-input']).toContain('"@query";req "x-sealed-day")');
    expect(answer.headers).not.toHaveProperty('content-digest');
  });

  it('has ranges of just those bytes', async () => {
    const { body, headers } = await ask(listPath(MEDIUM));
    const size = body.length;
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=100-20000', 100, 20_001],
      [`bytes=${size - 10}-`, size - 10, size],
      ['bytes=-77', size - 77, size],
    ] as const) {
      const etag = headers['etag'] ?? '';
      const conditions = { range, 'if-range': etag, 'accept-encoding': 'gzip' };
      const part = await ask(listPath(MEDIUM), conditions);
      expect([range, part.status, part.body]).toEqual([range, 206, body.slice(from, to)]);
      expect(part.headers['content-range']).toBe(`bytes ${from}-${to - 1}/${size}`);
      expectSignedHead(part, listPath(MEDIUM));
    }
    const csv = (await ask(listPath(MEDIUM, 'csv'))).body;
    const part = await ask(listPath(MEDIUM, 'csv'), { range: 'bytes=5-40' });
    expect(part.body).toBe(csv.slice(5, 41));
  });

  it.each([
    [listPath(LAST), 409, 'DAY_NOT_SEALED'],
    [listPath(LAST + 1), 409, 'DAY_NOT_OVER'],
    [listPath(FIRST - 1), 404, 'DAY_NOT_FOUND'],
    [listPath(FIRST), 410, 'LIST_NOT_KEPT'],
    [`${listPath(MEDIUM)}?revision=2`, 404, 'REVISION_NOT_FOUND'],
    [`${listPath(MEDIUM)}?revision=0`, 400, 'BAD_REQUEST'],
    [`${listPath(MEDIUM)}?revision=1&revision=1`, 400, 'BAD_REQUEST'],
    [`${listPath(MEDIUM)}?contract=0x`, 400, 'BAD_REQUEST'],
    [`${DAYS}/2026-02-30/wallets.ndjson`, 400, 'BAD_REQUEST'],
    [`${DAYS}/2026-11-18/wallets.xml`, 404, 'NOT_FOUND'],
  ])('is refused for %s: %s %s', async (target, status, code) => {
    expectError(await api.as(partner).ask(target), status, code);
  });

  it('is for partners', async () => {
    expectError(await api.as().ask(listPath(MEDIUM)), 401, 'UNAUTHORIZED');
  });

  it('counts as a request for each 10,000 wallets that are sent', async () => {
    const weighed = await addPartner(api, 'weighed', { rate: 1, burst: 40 });
    const remaining = async (headers: Record<string, string>): Promise<number> => {
      const answer = await askList(api.url + listPath(LARGE), weighed.apiKey, headers);
      return Number(answer.headers['x-ratelimit-remaining']);
    };
    // The test's clock stands still, so the bucket does not refill.
    expect(await remaining({})).toBe(35);
    expect(await remaining({ range: 'bytes=0-99' })).toBe(34);
    expect(await remaining({ range: 'bytes=-2000000' })).toBeGreaterThan(30);
    const { apiKey } = await addPartner(api, 'small', { rate: 1, burst: 7 });
    expect((await askList(api.url + listPath(LARGE), apiKey)).status).toBe(200);
    const refused = await askList(api.url + listPath(LARGE), apiKey);
    expectError(refused, 429, 'RATE_LIMIT_EXCEEDED');
  });
});
