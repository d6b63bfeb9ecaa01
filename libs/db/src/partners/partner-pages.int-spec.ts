/** Partners page by page, and their names. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { aPartnerId, createTestDatabase, type TestDatabase } from '#libs/testing';
import { PartnerStore } from '../index.js';

/** In the order of the pages, which ignores upper and lower case. */
const NAMES = ['<b>Ace</b>', 'ace', 'Acme', 'BETA', 'beta 2', 'Zebra', 'ÄON', '漢字', '🦊'];

let test: TestDatabase;
let partners: PartnerStore;
const ids = new Map<string, PartnerId>();

beforeAll(async () => {
  test = await createTestDatabase();
  partners = new PartnerStore(await test.open({ url: test.urlAs('console') }));
  for (const name of [...NAMES].reverse()) {
    const credential = {
      ...{ keyHash: randomBytes(32), keyPrefix: 'svck_test', secretCiphertext: randomBytes(64) },
    };
    const { partnerId } = await partners.create({ name, rate: 1, burst: 1, credential });
    ids.set(name, partnerId);
  }
});
afterAll(() => test.drop());

/** The names on each of all pages. */
async function pagesOf(limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { entries, next } = await partners.page({ limit, after });
    pages.push(entries.map(({ partnerName }) => partnerName));
    after = next;
  } while (after !== undefined && pages.length < 99);
  return pages;
}

describe('PartnerStore.page', () => {
  it.each([1, 2, 3, 8, 9, 10])('has each partner once, %i on a page', async (limit) => {
    const pages = await pagesOf(limit);
    const all = (await partners.list()).map(({ partnerName }) => partnerName);
    expect(pages.flat()).toEqual(all);
    expect([...all].sort()).toEqual([...NAMES].sort());
    // The last page may be full, in which case an empty page follows.
    expect(pages).toHaveLength(Math.floor(NAMES.length / limit) + 1);
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  });

  it('says all of each, with its credentials', async () => {
    const [listed] = (await partners.page({ limit: 1 })).entries;
    expect(listed).toEqual((await partners.list())[0]);
    expect(listed?.credentials).toHaveLength(1);
  });

  it('goes on behind a name that is gone or never was', async () => {
    const { entries, next } = await partners.page({ limit: 9, after: 'b' });
    expect(entries.map(({ partnerName }) => partnerName)).toEqual(NAMES.slice(3));
    expect(next).toBeUndefined();
    const beyond = await partners.page({ limit: 9, after: '\u{10ffff}' });
    expect(beyond).toEqual({ entries: [], next: undefined });
    const odd = await partners.page({ limit: 9, after: "'; DROP TABLE partners.partner; --" });
    expect(odd.entries.length).toBeGreaterThan(0);
  });
});

describe('PartnerStore.names', () => {
  it('names those that are asked for, each once, and leaves out what is none', async () => {
    const [ace, beta] = [ids.get('ace'), ids.get('BETA')] as [PartnerId, PartnerId];
    expect(await partners.names([beta, ace, ace, aPartnerId()])).toEqual(
      new Map([
        [ace, 'ace'],
        [beta, 'BETA'],
      ]),
    );
    expect(await partners.names([])).toEqual(new Map());
    expect((await partners.names([...ids.values()])).size).toBe(NAMES.length);
  });
});
