/** Each search and each page for operators is served by an index, however many redemptions there are. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Address, type UuidV7 } from '#libs/domain';
import {
  createTestDatabase,
  explained,
  seedRedemptions,
  type TestDatabase,
} from '#libs/testing/database';
import { type Database, type OpenKey, RedemptionPages } from '../index.js';

const MANY = 100_000;
const PAGE = 20;
const FAR_PAGE = 10;
/** Maximum number of rows that may be read for a page. */
const MOST_READ = MANY / 50;

let test: TestDatabase;
let database: Database;
let pages: RedemptionPages;
let sample: { id: UuidV7; partner: string; wallet: Address };

beforeAll(async () => {
  test = await createTestDatabase();
  const client = new pg.Client({ connectionString: test.url });
  await client.connect();
  try {
    await seedRedemptions(client, MANY);
    const { rows } = await client.query<typeof sample>(
      `SELECT id, partner, '0x' || encode(wallet, 'hex') AS wallet FROM redemption.redemption
        WHERE state = 'claimed' ORDER BY id OFFSET $1 LIMIT 1`,
      [MANY / 2],
    );
    sample = rows[0] ?? { id: '' as UuidV7, partner: '', wallet: '' as Address };
  } finally {
    await client.end();
  }
  database = await test.open({ url: test.urlAs('console') });
  pages = new RedemptionPages(database);
});
afterAll(() => test.drop());

/** The indexes that a page uses, and the number of rows that it reads, including those that it discards. */
async function readingOf(ask: (pages: RedemptionPages) => Promise<unknown>) {
  const { database: explaining, nodes: all } = explained(database);
  await ask(new RedemptionPages(explaining));
  const nodes = all.filter((node) => node['Relation Name'] === 'redemption');
  const isIndexed = nodes.every((node) => /Index|Bitmap/.test(node['Node Type']));
  const read = nodes.map((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0));
  return { nodes: nodes.length, isIndexed, most: Math.max(...read) };
}

const byFilter: [string, () => Parameters<RedemptionPages['newest']>][] = [
  ['the newest', () => [{}, { limit: PAGE }]],
  ['the page behind half of them', () => [{}, { limit: PAGE, after: sample.id }]],
  ['one, by its id', () => [{ idPrefix: sample.id }, { limit: PAGE }]],
  [
    'one, by the beginning of its id',
    () => [{ idPrefix: sample.id.slice(0, 11) }, { limit: PAGE }],
  ],
  ['those of a wallet', () => [{ wallet: sample.wallet }, { limit: PAGE }]],
  ['those of a wallet that has none', () => [{ wallet: aStranger() }, { limit: PAGE }]],
  ['those of a partner', () => [{ partner: sample.partner }, { limit: PAGE }]],
  [
    'the failed ones of a partner',
    () => [{ partner: sample.partner, state: 'failed' }, { limit: PAGE }],
  ],
  ['those that wait for an operator', () => [{ state: 'attention' }, { limit: PAGE }]],
  ['a state that none has', () => [{ state: 'reverted' }, { limit: PAGE }]],
  [
    'those of a partner in a state that none has',
    () => [{ partner: sample.partner, state: 'reverted' }, { limit: PAGE }],
  ],
];

function aStranger(): Address {
  return `0x${'f'.repeat(40)}` as Address;
}

describe('with many redemptions, a page', () => {
  it.each(byFilter)('of %s is read by an index', async (_, asked) => {
    const reading = await readingOf((reader) => reader.newest(...asked()));
    expect(reading).toMatchObject({ nodes: expect.any(Number), isIndexed: true });
    expect(reading.nodes).toBeGreaterThan(0);
    expect(reading.most).toBeLessThanOrEqual(MOST_READ);
  });

  it('of the queue costs the same wherever it is', async () => {
    let after: OpenKey | undefined;
    for (let page = 1; page < FAR_PAGE; page += 1) {
      ({ next: after } = await pages.open({ limit: PAGE, after }));
      expect(after).toBeDefined();
    }
    const first = await readingOf((reader) => reader.open({ limit: PAGE }));
    const far = await readingOf((reader) => reader.open({ limit: PAGE, after }));
    for (const reading of [first, far]) {
      expect(reading).toEqual({ nodes: 1, isIndexed: true, most: PAGE });
    }
  });
});
