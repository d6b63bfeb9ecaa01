import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { CallbackStore, IndexStore, PartnerStore, type Price, PriceStore } from '#libs/db';
import { freePort } from '#libs/devprocess';
import { aWallet } from '#libs/testing/database';
import { DoctorBench, OFF_CHAIN } from './testing/doctor-bench.support.js';

/** A Chainlink feed on the test's chain. */
const FEED = `0x${'fe'.repeat(20)}`;
const ON_CHAIN = { PRICE_SOURCE: `chainlink:${FEED}` };
const AN_HOUR_MS = 3_600_000;

let bench: DoctorBench;
let server: Server | undefined;
beforeAll(async () => {
  bench = await DoctorBench.start();
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});
afterAll(() => bench.stop());

/** Starts a price source with this listener. @returns its host */
async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function agoSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) - seconds;
}

/**
 * Answers `decimals()` with 8, and every other call with the round that is appended to the code: compares the selector,
 * jumps, copies the five words from offset 0x26, returns.
 */
const CODE = '60003560e01c63313ce56714601b5760a06026600039' + '60a06000f35b600860005260206000f3';

interface Round {
  /** Price with 8 decimals. */
  readonly answer: bigint;
  readonly updatedAtSeconds: number;
}

async function putFeed(round: Round): Promise<void> {
  const at = BigInt(round.updatedAtSeconds);
  const words = [9n, round.answer, at, at, 9n]
    .map((word) => BigInt.asUintN(256, word).toString(16).padStart(64, '0'))
    .join('');
  await bench.vault.chain.rpc.call('anvil_setCode', FEED, `0x${CODE}${words}`);
}

async function store(price: Partial<Price>): Promise<void> {
  const observedAt = new Date();
  const whole = { usd: '0.1', observedAt, source: 'fixed', ...price };
  await new PriceStore(await bench.test.open()).add(whole);
}

describe('price source: a feed on the chain', () => {
  it('is read as the indexer reads it, with its own time', async () => {
    await putFeed({ answer: 12_345n, updatedAtSeconds: agoSeconds(540) });
    const found = await bench.finding('price source', ON_CHAIN);
    expect(found).toMatchObject({ state: 'ok', code: 0 });
    expect(found.found).toMatch(new RegExp(`^0\\.00012345 USD by chainlink:${FEED}, 9m`));
  });

  it.each([
    [{ answer: 5n, ago: 8000 }, 'older than 2h 0m, so it is left out', 'The feed stands still'],
    [{ answer: 5n, ago: 700 }, 'older than 10m 0s, so nothing is redeemed', 'If the rounds'],
    [{ answer: 0n, ago: 60 }, 'The price is zero', 'Look at the feed'],
  ])('with %j', async ({ answer, ago }, text, mend) => {
    await putFeed({ answer, updatedAtSeconds: agoSeconds(ago) });
    const found = await bench.finding('price source', ON_CHAIN);
    expect(found).toMatchObject({ state: 'warning', mend: expect.stringContaining(mend) });
    expect(found.found).toContain(text);
  });

  it('that is none, and of whose chain no endpoint answers', async () => {
    for (const contract of [aWallet(0xf0a), bench.vault.chain.contracts.token]) {
      const other = { PRICE_SOURCE: `chainlink:${contract}` };
      const found = await bench.finding('price source', other);
      expect(found).toMatchObject({ state: 'warning' });
      expect(found.found).toContain('is not a Chainlink price feed');
      expect(found.mend).toContain('Correct the address in PRICE_SOURCE');
    }
    const dead = { ...ON_CHAIN, RPC_URLS: 'http://127.0.0.1:1' };
    expect(await bench.finding('price source', dead)).toMatchObject({ state: 'not-checked' });
  });
});

describe('price source: a URL', () => {
  it('is asked with its credentials, which are not shown', async () => {
    const host = await serve((request, response) => {
      const known = request.headers.authorization === `Basic ${btoa('me:hunter2')}`;
      response.end(JSON.stringify({ token: { usd: known ? 0.25 : 0 } }));
    });
    const source = `http:http://me:hunter2@${host}/hunter2/v1?key=hunter2#/token/usd`;
    const found = await bench.finding('price source', { ...OFF_CHAIN, PRICE_SOURCE: source });
    expect(found).toMatchObject({ state: 'ok' });
    expect(found.found).toMatch(
      /^0\.25 USD by http:http:\/\/127\.0\.0\.1:\d+#\/token\/usd \([0-9a-f]{6}\), 0s/,
    );
  });

  const answer =
    (text: string): RequestListener =>
    (_request, response) =>
      void response.end(text);
  it.each<[string, RequestListener, string, string]>([
    ['has nothing there', answer('{}'), 'is not a number at that JSON pointer', 'JSON pointer'],
    ['hangs up', (_, to) => void to.destroy(), 'did not answer (UND_ERR_SOCKET)', 'Try the URL'],
  ])('that %s', async (_name, listener, text, mend) => {
    const host = await serve(listener);
    const source = { PRICE_SOURCE: `http:http://me:hunter2@${host}/?key=hunter2#/usd` };
    const found = await bench.finding('price source', { ...OFF_CHAIN, ...source });
    expect(found).toMatchObject({ state: 'warning', code: 0 });
    expect(found.found).toContain(text);
    expect(found.mend).toContain(mend);
  });

  it('that is not there, or is no source at all', async () => {
    const PRICE_SOURCE = `http:http://127.0.0.1:${await freePort()}/#/usd`;
    const found = await bench.finding('price source', { ...OFF_CHAIN, PRICE_SOURCE });
    expect(found.found).toMatch(/did not answer \(ECONNREFUSED\)$/);
    const { code, out } = await bench.run({
      ...OFF_CHAIN,
      PRICE_SOURCE: 'https://hunter2.example',
    });
    expect(code).toBe(1);
    expect(out).toMatch(/FAULT +settings +PRICE_SOURCE must be none, fixed/);
    expect(out).toMatch(/- +price source +not checked: PRICE_SOURCE is not usable/);
  });
});

describe('the stored price', () => {
  it('is held against the source: none, fixed, another one', async () => {
    const off = await bench.finding('price source', { ...OFF_CHAIN, PRICE_SOURCE: 'none' });
    expect(off.found).toContain('nothing is redeemed');
    await store({});
    const same = { ...OFF_CHAIN, PRICE_SOURCE: 'fixed:0.1' };
    expect(await bench.finding('price', same)).toMatchObject({ state: 'ok' });
    for (const PRICE_SOURCE of ['fixed:0.2', `chainlink:${FEED}`]) {
      const found = await bench.finding('price', { PRICE_SOURCE });
      expect(found).toMatchObject({ state: 'warning' });
      expect(found.found).toContain(`; PRICE_SOURCE is ${PRICE_SOURCE}`);
      expect(found.mend).toContain('The indexer runs with another PRICE_SOURCE');
    }
  });

  it('that is behind what the source says, and what to look at', async () => {
    const source = `chainlink:${FEED}`;
    await store({ source, observedAt: new Date(Date.now() - AN_HOUR_MS) });
    await putFeed({ answer: 5n, updatedAtSeconds: agoSeconds(60) });
    const behind = await bench.finding('price', ON_CHAIN);
    expect(behind.found).toMatch(/; the source has one 5[89]m \d+s newer$/);
    expect(behind.mend).toContain('The source answers here');
    await putFeed({ answer: 0n, updatedAtSeconds: agoSeconds(60) });
    await store({ source, observedAt: new Date(Date.now() - 3 * AN_HOUR_MS) });
    const old = await bench.finding('price', ON_CHAIN);
    expect(old).toMatchObject({ state: 'warning', mend: 'Mend `price source`.' });
    expect(old.found).toContain('older than 2h');
  });
});

describe('price source: several', () => {
  const hosts: Server[] = [];
  afterEach(() => {
    for (const one of hosts.splice(0)) one.close();
  });

  async function sources(...prices: string[]): Promise<string> {
    const urls: string[] = [];
    for (const usd of prices) {
      urls.push(`http:http://${await serve((_, response) => response.end(`{"usd":${usd}}`))}#/usd`);
      if (server !== undefined) hosts.push(server);
    }
    return urls.join(',');
  }
  async function found(PRICE_SOURCE: string) {
    const { out } = await bench.run({ ...OFF_CHAIN, PRICE_SOURCE }, '--json');
    const { findings } = JSON.parse(out) as {
      findings: { what: string; state: string; found: string }[];
    };
    return findings.filter(({ what }) => what.startsWith('price source'));
  }

  it('are each told of, the one that is wrong as well', async () => {
    const seen = await found(await sources('0.15', '0.00015', '0.151'));
    expect(seen.map(({ state }) => state)).toEqual(['ok', 'warning', 'ok', 'ok']);
    expect(seen[1]?.found).toBe('0.00015 USD: not what the others say');
    expect(seen[3]?.found).toMatch(/^0\.15 USD by http:.+, http:.+, http:.+, 0s old$/);
  });
});

describe('price limits', () => {
  it('are missing, complete, or have a price wait for an operator', async () => {
    const PRICE_SOURCE = 'fixed:0.1';
    const none = await bench.finding('price limits', { ...OFF_CHAIN, PRICE_SOURCE });
    expect(none).toMatchObject({ state: 'warning' });
    expect(none.found).toContain('PRICE_BOUNDS_USD is not set');
    const bounds = { ...OFF_CHAIN, PRICE_SOURCE, PRICE_BOUNDS_USD: '0.05..1' };
    expect(await bench.finding('price limits', bounds)).toMatchObject({ state: 'ok' });
    const database = await bench.test.open();
    const fence = await new IndexStore(database).takeLead();
    const price = { usd: '0.0001', observedAt: new Date(), source: 'fixed' };
    const about = { reason: 'jump', beforeUsd: '0.1', maxChange: '0.2', isNewHold: false };
    await new PriceStore(database).hold(fence, { price, ...about });
    const held = await bench.finding('price limits', bounds);
    expect(held).toMatchObject({ state: 'fault', code: 1 });
    expect(held.found).toMatch(
      /^held: 0\.0001 USD, 0\.1 before: it differs .+nothing is redeemed$/,
    );
    await database.query({ text: 'DELETE FROM staking.price_hold' });
  });
});

describe('partners', () => {
  it('without a daily token budget are named', async () => {
    const database = await bench.test.open();
    const credential = (fill: number) => ({
      keyHash: Buffer.alloc(32, fill),
      keyPrefix: 'svck_test',
      secretCiphertext: Buffer.alloc(64),
    });
    const set = async (name: string, fill: number, budget: object): Promise<PartnerId> => {
      const terms = { name, rate: 1, burst: 1, credential: credential(fill) };
      const { partnerId } = await new PartnerStore(database).create(terms);
      await new CallbackStore(database).change(partnerId, () => ({
        url: 'https://game.example',
        key: name,
        secretCiphertext: Buffer.alloc(64),
        usdPerPoint: { digits: 1n, scale: 2 },
        confirms: true,
        capabilities: [],
        ...budget,
      }));
      return partnerId;
    };
    await set('Bounded', 1, { dailyTokenBudget: { digits: 5n, scale: 0 } });
    expect(await bench.finding('partners', OFF_CHAIN)).toMatchObject({ state: 'ok' });
    const id = await set('Boundless', 2, {});
    const found = await bench.finding('partners', OFF_CHAIN);
    expect(found).toMatchObject({ state: 'warning' });
    expect(found.found).toMatch(/redeemed with them: Boundless$/);
    await new CallbackStore(database).pause(id, true);
    expect(await bench.finding('partners', OFF_CHAIN)).toMatchObject({ state: 'ok' });
  });

  it('whose names could not be given today are named, and renamed by the command that it names', async () => {
    const database = await bench.test.open();
    const insert = (name: string) =>
      database.pool.query<{ id: string }>(
        'INSERT INTO partners.partner (name) VALUES ($1) RETURNING id',
        [name],
      );
    const namesOf = async () =>
      (await bench.findings('names of partners', OFF_CHAIN)).map(({ found }) => found);
    expect(await bench.finding('names of partners', OFF_CHAIN)).toMatchObject({ state: 'ok' });
    const { rows } = await insert('--help');
    const id = rows[0]?.id as PartnerId;
    await insert('Boundlеss');
    await insert('3e6f0a12-7c1d-4b5e-9f00-0123456789ab');
    expect(await namesOf()).toEqual([
      `“--help” (${id}) must not begin with a dash`,
      expect.stringMatching(/^“3e6f.+ must not look like an id, an address or a key$/),
      expect.stringMatching(/^“Boundlеss” \(.+\) looks like “Boundless” \(.+\)$/),
    ]);
    await database.query({
      text: "DELETE FROM partners.partner WHERE name !~ '^(Bound|--)[a-z]*$'",
    });
    const store = new PartnerStore(database);
    await store.rename(id, 'Help');
    expect(await namesOf()).toEqual(['no two look alike']);
  });
});
