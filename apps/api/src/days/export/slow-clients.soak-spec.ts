/** Lists of sealed days for clients that are slow, too many, or disconnect. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayText, type Keccak256 } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { type MintedCredential } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { type RawAnswer } from '#libs/testing/wire';
import { addPartner, type Api, startApi } from '../../testing/api-harness.support.js';
import { askList, listPath as pathOf, SlowClient } from '../../testing/list-client.support.js';
import { FIRST, type Sealer, startSealing, treeOf } from '../../testing/sealed-days.support.js';
import { expectError } from '../../testing/wire.support.js';
import { DayExports } from './day-exports.service.js';

/** Wallets whose list is larger than the buffers of both sockets. */
const MANY = 150_000;
const [SMALL, LARGE] = [FIRST, FIRST + 1];
const IDLE_MS = 1500;

let api: Api;
/** A replica with a short time limit for clients that read nothing. */
let impatient: Api;
let partner: MintedCredential;
let keccak: Keccak256;
let sealer: Sealer;

beforeAll(async () => {
  keccak = await createKeccak256();
  api = await startApi();
  impatient = await startApi({}, api.database, undefined, IDLE_MS);
  partner = await addPartner(api, 'lists', { rate: 10_000, burst: 100_000 });
  sealer = await startSealing(api);
  await sealer.seal(SMALL, treeOf(3000, keccak));
  await sealer.seal(LARGE, treeOf(MANY, keccak));
});
afterAll(async () => {
  await impatient.stop();
  await api.stop();
});

const exportsOf = ({ app } = api): DayExports => app.get(DayExports, { strict: false });

const ask = (target: string, headers: Record<string, string> = {}): Promise<RawAnswer> =>
  askList(api.url + target, partner.apiKey, headers);

const slow = (query = '', apiKey = partner.apiKey, { port } = api): Promise<SlowClient> =>
  SlowClient.start(port, apiKey, pathOf(LARGE) + query);

describe('a client that is slow', () => {
  it('is cut off, and holds nothing then', async () => {
    const client = await slow('', partner.apiKey, impatient);
    expect(exportsOf(impatient).activeLists).toBe(1);
    await eventually(() => exportsOf(impatient).activeLists === 0);
    expect((await client.rest()).length).toBeLessThan(client.length);
    // The client can ask for the rest of the list.
    const whole = (await ask(pathOf(LARGE))).body;
    const part = await ask(pathOf(LARGE), { range: 'bytes=5000000-' });
    expect(part.body).toBe(whole.slice(5_000_000));
  });

  it('that leaves holds nothing', async () => {
    const client = await slow();
    client.destroy();
    await eventually(() => exportsOf().activeLists === 0);
    expect(api.logs.filter((line) => line.includes('cut off'))).toEqual([]);
  });

  it('gets one revision: what is sealed meanwhile is another list', async () => {
    const before = (await ask(pathOf(LARGE))).body;
    const client = await slow();
    await sealer.seal(
      LARGE,
      treeOf(MANY, keccak, (number) => number + 1),
    );
    expect(await client.rest()).toBe(before);
    const etag = /etag: (\S+)/i.exec(client.head)?.[1] ?? '';
    // The answer is the whole new list, and not a part of it after a part of the old one.
    const resumed = await ask(pathOf(LARGE), { range: 'bytes=5000000-', 'if-range': etag });
    expect([resumed.status, resumed.body === before]).toEqual([200, false]);
    const old = await ask(`${pathOf(LARGE)}?revision=1`);
    expect([old.status, old.body === before]).toEqual([200, true]);
    expect(old.headers['cache-control']).toBe('private, immutable, max-age=31536000');
  });

  it('is cut off where its list is removed, and sees that it has not all', async () => {
    const client = await slow('?revision=1');
    await sealer.forgetLists(SMALL);
    expect((await client.rest()).length).toBeLessThan(client.length);
    expectError(await ask(`${pathOf(LARGE)}?revision=1`), 410, 'LIST_NOT_KEPT');
    expect(api.logs.join('')).toContain('A list of a day was cut off');
  });
});

describe('many clients at once', () => {
  it('have two lists each, and hold up no list of another partner by reading slowly', async () => {
    const others = await Promise.all(
      ['one', 'two', 'three'].map((name) => addPartner(api, name, { rate: 100, burst: 100 })),
    );
    const keys = [partner, ...others].map(({ apiKey }) => apiKey);
    const holding = await Promise.all([0, 0, 1, 1, 2, 2].map((which) => slow('', keys[which])));
    const third = await ask(pathOf(SMALL));
    expectError(third, 429, 'RATE_LIMIT_EXCEEDED');
    expect(third.headers['retry-after']).toBe('10');
    const whole = await ask(pathOf(LARGE), { 'x-api-key': keys[3] ?? '' });
    expect([whole.status, whole.body.length]).toEqual([
      200,
      Number(whole.headers['content-length']),
    ]);
    // Other requests are still answered.
    expect((await ask(`/api/staking/days/${dayText(SMALL)}`)).status).toBe(200);
    for (const client of holding) client.destroy();
    await eventually(() => exportsOf().activeLists === 0);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(pathOf(SMALL))));
    const body = answers.find(({ status }) => status === 200)?.body;
    expect(body?.split('\n').length).toBe(3001);
    for (const answer of answers) {
      if (answer.status === 200) expect(answer.body).toBe(body);
      else expect([answer.status, answer.headers['retry-after']]).toEqual([429, '10']);
    }
    await eventually(() => exportsOf().activeLists === 0);
  });

  it('see a list end early where the database is lost', async () => {
    const client = await slow();
    await api.link.close();
    expect((await client.rest()).length).toBeLessThan(client.length);
    await api.link.open();
    await eventually(async () => (await ask(pathOf(SMALL))).status === 200);
  });
});
