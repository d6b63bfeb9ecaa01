import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  type Address,
  type PartnerId,
  type PartnerStep,
  type Redemption,
  type RedemptionEvent,
  type RedemptionState,
  type UuidV7,
} from '#libs/domain';
import {
  createTestDatabase,
  explained,
  seedRedemptions,
  type TestDatabase,
} from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import {
  aKey,
  aNewRedemption,
  aUuid,
  decided,
  someLimits,
  someWallet,
  START_MS,
} from './testing/builders.js';
import {
  AuditLog,
  type Database,
  isIdPrefix,
  type OpenKey,
  RedemptionLog,
  RedemptionPages,
  RedemptionStore,
  RedemptionViews,
} from '../index.js';

let test: TestDatabase;
let database: Database;
let pages: RedemptionPages;
let log: RedemptionLog;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  pages = new RedemptionPages(database);
  log = new RedemptionLog(database);
});
beforeEach(() => test.empty());
afterAll(() => test.drop());

const HOUR_MS = 3_600_000;

type Step = (before: Redemption) => RedemptionEvent;

const begin: Step = () => ({ type: 'call-due', requestId: aUuid() });
const cancel: Step = () => ({ type: 'cancel', by: 'user' });
const reuse: Step = ({ openCall }) => ({
  type: 'deduct-id-reused',
  requestId: openCall?.requestId ?? aUuid(),
});

/** Creates a redemption this number of milliseconds after START_MS. */
async function aStored(
  atMs: number,
  change: Partial<Redemption> = {},
  ...steps: readonly Step[]
): Promise<Redemption> {
  const store = new RedemptionStore(database);
  let redemption = aNewRedemption(change, START_MS + atMs);
  await store.create(redemption, aKey(), someLimits());
  for (const step of steps) {
    const event = step(redemption);
    const write = decided(redemption, event);
    await store.apply(write);
    redemption = write.decision.next;
  }
  return redemption;
}

async function idsOf(
  page: (after: never) => ReturnType<RedemptionPages['newest'] | RedemptionPages['open']>,
): Promise<UuidV7[][]> {
  const seen: UuidV7[][] = [];
  let after: unknown;
  do {
    const { found, next } = await page(after as never);
    seen.push(found.map(({ redemption }) => redemption.id));
    after = next;
  } while (after !== undefined);
  return seen;
}

describe('the newest first', () => {
  it('comes in pages that neither repeat nor leave out', async () => {
    const ids: UuidV7[] = [];
    for (let at = 0; at < 5; at++) ids.unshift((await aStored(at)).id);
    const seen = await idsOf((after) => pages.newest({}, { limit: 2, after }));
    expect(seen.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(seen.flat()).toEqual(ids);
    const whole = await idsOf((after) => pages.newest({}, { limit: 5, after }));
    expect(whole).toEqual([ids, []]);
  });

  it('is narrowed by state, partner, wallet and the beginning of the id, together too', async () => {
    const [partner, wallet] = [aPartnerId(), someWallet()];
    const ours = await aStored(0, { partner, wallet }, cancel);
    const open = await aStored(1, { partner });
    await aStored(2);
    const found = async (filter: Parameters<RedemptionPages['newest']>[0]) =>
      (await pages.newest(filter, { limit: 10 })).found.map(({ redemption }) => redemption.id);
    expect(await found({ partner })).toEqual([open.id, ours.id]);
    expect(await found({ partner, state: 'created' })).toEqual([open.id]);
    expect(await found({ wallet })).toEqual([ours.id]);
    expect(await found({ state: 'failed' })).toEqual([ours.id]);
    expect(await found({ wallet, state: 'created' })).toEqual([]);
    expect(await found({ idPrefix: ours.id })).toEqual([ours.id]);
    const short = ours.id.slice(0, 24).toUpperCase();
    expect(await found({ idPrefix: short })).toEqual([ours.id]);
    expect(await found({ idPrefix: ours.id.replaceAll('-', '').slice(0, 20) })).toEqual([ours.id]);
    expect(await found({ idPrefix: ours.id.slice(0, 8) })).toHaveLength(3);
    expect(await found({ idPrefix: 'ffff' })).toEqual([]);
  });

  it.each(['', '-', 'g', "'", '%', '0'.repeat(33), `${'0'.repeat(36)}0`, '\0', 'Ａ'])(
    'finds nothing under %j, which is no beginning of an id',
    async (idPrefix) => {
      await aStored(0);
      expect(isIdPrefix(idPrefix)).toBe(false);
      expect(await pages.newest({ idPrefix }, { limit: 10 })).toEqual({
        found: [],
        unreadable: [],
        next: undefined,
      });
    },
  );
});

describe('what is open', () => {
  it('begins with what waits for an operator, each by how long it has waited, and ends with the page', async () => {
    const late = await aStored(50);
    const waiting = await aStored(10_000, {}, begin, reuse);
    const early = await aStored(5);
    const alsoWaiting = await aStored(10_001, { initialAtMs: START_MS + 1 }, begin, reuse);
    await aStored(1, {}, cancel);
    const seen = await idsOf((after) => pages.open({ limit: 1, after }));
    expect(seen.flat()).toEqual(
      [waiting, alsoWaiting]
        .sort((a, b) => a.stateSinceMs - b.stateSinceMs || (a.id < b.id ? -1 : 1))
        .concat([early, late])
        .map(({ id }) => id),
    );
  });
});

describe('the overview', () => {
  it('counts what is open, and what was made since, by state', async () => {
    const count = async (sinceMs: number) => {
      const { open, made } = await pages.overview(sinceMs);
      const pairs = (of: readonly { readonly state: RedemptionState; readonly count: number }[]) =>
        Object.fromEntries(of.map(({ state, count: counted }) => [state, counted]));
      return { open: pairs(open), made: pairs(made) };
    };
    expect(await count(0)).toEqual({ open: {}, made: {} });
    await aStored(0);
    await aStored(1000);
    await aStored(2000, {}, begin, reuse);
    await aStored(3000, {}, cancel);
    const open = { created: 2, attention: 1 };
    expect(await count(0)).toEqual({ open, made: { created: 2, attention: 1, failed: 1 } });
    expect(await count(START_MS + 2000)).toEqual({ open, made: { attention: 1, failed: 1 } });
    const [attention, created] = (await pages.overview(0)).open;
    expect(attention?.state).toBe('attention');
    expect(created?.oldestSeconds).toBeGreaterThan(0);
    expect(created?.longestSeconds).toBe(created?.oldestSeconds);
  });
});

it('tells those that cannot be read, and pages go on behind them', async () => {
  const readable = await aStored(0);
  const broken = await aStored(1);
  // Changes the row like an intruder who may disable the triggers.
  await database.transaction(async (client) => {
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(
      `UPDATE redemption.redemption SET state_since_at = '-infinity' WHERE id = $1`,
      [broken.id],
    );
  });
  const { found, unreadable, next } = await pages.newest({}, { limit: 1 });
  expect(found).toEqual([]);
  expect(unreadable).toMatchObject([{ redemptionId: broken.id }]);
  const behind = await pages.newest({}, { limit: 1, after: next });
  expect(behind.found.map(({ redemption }) => redemption.id)).toEqual([readable.id]);
  const seen = await idsOf((after) => pages.open({ limit: 1, after }));
  expect(seen).toEqual([[], [readable.id], []]);
});

interface Call {
  readonly atMs: number;
  readonly step?: PartnerStep;
  readonly redemptionId?: UuidV7 | null;
  /** Undefined where the call's end was never learnt. */
  readonly end?: { readonly outcome: string; readonly record: object };
}

const ANSWER = (status: number, isUsable = true) => ({
  outcome: 'answer',
  record: { status, finding: { isUsable } },
});

/** Inserts a row like the service, at a moment that the test chooses. */
async function aCall(partner: PartnerId, call: Call): Promise<UuidV7> {
  const { atMs, step = 'balance', redemptionId = null, end } = call;
  const requestId = aUuid(atMs);
  await database.pool.query(
    `INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step, begun_at, ended_at, outcome, record)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[requestId, redemptionId, partner, step, new Date(atMs)],
      ...[end ? new Date(atMs + 5) : null, end?.outcome ?? null, end?.record ?? null],
    ],
  );
  return requestId;
}

it('one redemption shows its transitions and calls in pages, the oldest first', async () => {
  const redemption = await aStored(0, {}, begin);
  const requestId = redemption.openCall?.requestId;
  const first = await log.transitions(redemption.id, { limit: 1 });
  expect(first.entries).toMatchObject([{ version: 1, from: null, to: 'created' }]);
  const second = await log.transitions(redemption.id, { limit: 2, after: first.next });
  expect(second).toMatchObject({ entries: [{ version: 2, to: 'deducting', requestId }] });
  expect(second.next).toBeUndefined();

  const later = await aCall(redemption.partner, {
    ...{ atMs: START_MS + 1000, step: 'deduct', redemptionId: redemption.id },
    end: ANSWER(200),
  });
  const call = await log.calls(redemption.id, { limit: 1 });
  expect(call.entries).toMatchObject([{ requestId, step: 'deduct', end: null }]);
  const rest = await log.calls(redemption.id, { limit: 2, after: call.next });
  expect(rest.entries).toMatchObject([
    { requestId: later, redemptionId: redemption.id, end: { outcome: 'answer' } },
  ]);
  expect(await log.calls(aUuid(), { limit: 1 })).toEqual({ entries: [], next: undefined });
});

describe('the calls of a partner', () => {
  it('come newest first, in pages, and never those of another', async () => {
    const [partner, other] = [aPartnerId(), aPartnerId()];
    const ids: UuidV7[] = [];
    for (let at = 0; at < 3; at++) ids.unshift(await aCall(partner, { atMs: START_MS + at }));
    await aCall(other, { atMs: START_MS + 1 });
    const first = await log.callsOfPartner(partner, { limit: 2 });
    const second = await log.callsOfPartner(partner, { limit: 2, after: first.next });
    expect([...first.entries, ...second.entries].map(({ requestId }) => requestId)).toEqual(ids);
    expect(second.next).toBeUndefined();
  });

  it('are narrowed by step and by how they ended', async () => {
    const partner = aPartnerId();
    const lost = { outcome: 'no-answer', record: { cause: 'timeout' } };
    const id = await aCall(partner, { atMs: START_MS, end: lost });
    await aCall(partner, { atMs: START_MS + 1, end: ANSWER(200) });
    const found = async (only: Parameters<RedemptionLog['callsOfPartner']>[2]) =>
      (await log.callsOfPartner(partner, { limit: 9 }, only)).entries.map((one) => one.requestId);
    expect(await found({ outcome: 'no-answer' })).toEqual([id]);
    expect(await found({ step: 'balance' })).toHaveLength(2);
    expect(await found({ step: 'deduct' })).toEqual([]);
  });

  it('are counted by hour and step, with what went wrong', async () => {
    const partner = aPartnerId();
    const hour = Math.floor(START_MS / HOUR_MS) * HOUR_MS;
    const ends = [
      ANSWER(200),
      ANSWER(404),
      ANSWER(200, false),
      ANSWER(503, false),
      { outcome: 'answer', record: {} },
      { outcome: 'no-answer', record: { cause: 'timeout' } },
      { outcome: 'nothing-sent', record: { cause: 'dns' } },
      undefined,
    ];
    for (const [at, end] of ends.entries()) {
      await aCall(partner, { atMs: hour + at, ...(end && { end }) });
    }
    await aCall(partner, { atMs: hour + HOUR_MS, end: ANSWER(200) });
    await aCall(partner, { atMs: hour - 1, end: ANSWER(200) });
    await aCall(aPartnerId(), { atMs: hour });
    expect(await log.callsPerHour(partner, hour)).toEqual([
      { hour: new Date(hour), step: 'balance', calls: 8, refused: 1, errors: 4, unsent: 1 },
      {
        hour: new Date(hour + HOUR_MS),
        step: 'balance',
        calls: 1,
        refused: 0,
        errors: 0,
        unsent: 0,
      },
    ]);
    expect(await log.callsPerHour(partner, hour + 2 * HOUR_MS)).toEqual([]);
    const troubles = await log.troubles(hour);
    expect(troubles.filter((one) => one.partner === partner)).toEqual([
      { partner, failedCalls: 5, stuck: 0 },
    ]);
  });
});

it('the audit log comes newest first, in pages, narrowed by who, partner and redemption', async () => {
  const [audit, views] = [new AuditLog(database), new RedemptionViews(database)];
  const [partner, redemptionId] = [aPartnerId(), aUuid()];
  const name = '<b>\u202e👩‍🚀';
  const note = { command: 'partner set', arguments: { name }, outcome: 'done' };
  await views.audit('operator:ann', note, { partner });
  const refused = { command: 'redemption retry', outcome: 'refused: FINAL' };
  await views.audit('operator:bob', refused, { redemptionId, partner });
  const commands = async (filter: Parameters<AuditLog['newest']>[0]) =>
    (await audit.newest(filter, { limit: 9 })).entries.map(({ command }) => command);
  expect(await commands({ partner })).toEqual(['redemption retry', 'partner set']);
  expect(await commands({ partner, actor: 'operator:bob' })).toEqual(['redemption retry']);
  expect(await commands({ redemptionId })).toEqual(['redemption retry']);
  expect(await commands({ actor: 'operator:ann%' })).toEqual([]);
  const first = await audit.newest({}, { limit: 1 });
  const second = await audit.newest({}, { limit: 1, after: first.next });
  expect(second.entries).toMatchObject([
    { actor: 'operator:ann', partner, redemptionId: null, arguments: { name }, outcome: 'done' },
  ]);
});

/** Each search and each page for operators is served by an index, however many redemptions there are. */
describe('with many redemptions', () => {
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
});
