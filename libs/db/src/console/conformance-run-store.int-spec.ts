import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import { readConformanceRun } from '../portal/conformance.js';
import { PortalDatabase } from '../portal/portal-database.js';
import { type Database } from '../connection/database.js';
import { forgetExpired } from './forget-expired.js';
import { ConformanceRunStore, type NewConformanceRun } from './conformance-run-store.js';

const PROGRESS = { judged: 1, checks: 40, calls: 3, now: 'reading a balance' };
/** PostgreSQL's jsonb would refuse the character, and change the order of the keys. */
const REPORT = { version: 1, b: 'a partner’s \0', a: 1 };

let test: TestDatabase;
let owner: Database;
let console: Database;
let store: ConformanceRunStore;
let other: ConformanceRunStore;
let portal: PortalDatabase;
let partnerId: PartnerId;
beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  const consoles = [
    test.open({ url: test.urlAs('console') }),
    test.open({ url: test.urlAs('console') }),
  ];
  const [one, two] = await Promise.all(consoles);
  if (one === undefined || two === undefined) throw new Error('two were opened');
  console = one;
  store = new ConformanceRunStore(one);
  other = new ConformanceRunStore(two);
  portal = new PortalDatabase(await test.open({ url: test.urlAs('portal'), schema: 'any' }));
});
afterAll(() => test.drop());
beforeEach(() => {
  partnerId = aPartnerId();
});

function aRun(): NewConformanceRun {
  const address = `0x${'aB'.repeat(20)}`;
  return {
    ...{ id: randomUUID(), partnerId, baseUrl: 'https://game.example', address },
    progress: { ...PROGRESS, judged: 0 },
  };
}

async function begun(): Promise<string> {
  const run = aRun();
  expect(await store.begin(run)).toBe(true);
  return run.id;
}

const shown = () => portal.asPartner(partnerId, readConformanceRun);

/** Ends the time for which the console holds the run. */
async function endLease(): Promise<void> {
  const text = 'UPDATE console.conformance_run SET held_until = now() WHERE partner = $1';
  await owner.query({ text }, [partnerId]);
}

describe('a conformance run', () => {
  it('is shown to its partner, with its progress and then its report, as it was written', async () => {
    const id = await begun();
    expect(await store.noteProgress(id, PROGRESS)).toBe(false);
    const open = { endedAt: null, progress: PROGRESS, report: null, failure: null };
    expect(await shown()).toMatchObject({ baseUrl: 'https://game.example', ...open });
    await store.end(id, { ...PROGRESS, judged: 40 }, { report: REPORT, failure: null });
    const ended = await shown();
    expect(ended).toMatchObject({ endedAt: expect.any(Date), failure: null });
    expect(JSON.stringify(ended?.report)).toBe(JSON.stringify(REPORT));
    expect(await portal.asPartner(aPartnerId(), readConformanceRun)).toBeUndefined();
  });

  it('is the only one of its partner until it has ended', async () => {
    const id = await begun();
    expect(await other.begin(aRun())).toBe(false);
    await store.end(id, PROGRESS, { report: null, failure: 'The run failed.' });
    expect(await shown()).toMatchObject({ report: null, failure: 'The run failed.' });
    const both = await Promise.all([store.begin(aRun()), other.begin(aRun())]);
    expect(both.sort()).toEqual([false, true]);
    expect(await shown()).toMatchObject({ endedAt: null, failure: null });
  });

  it('is to stop once a console was asked to, and only then', async () => {
    const id = await begun();
    await other.requestStop(aPartnerId());
    expect(await store.noteProgress(id, PROGRESS)).toBe(false);
    await other.requestStop(partnerId);
    expect(await store.noteProgress(id, PROGRESS)).toBe(true);
    await store.end(id, PROGRESS, { report: REPORT, failure: null });
    expect(await store.noteProgress(await begun(), PROGRESS)).toBe(false);
  });

  it('has ended without a result if its console writes nothing any more, and may be replaced', async () => {
    const id = await begun();
    await endLease();
    expect(await shown()).toMatchObject({ endedAt: expect.any(Date), report: null, failure: null });
    // The console was only slow.
    expect(await store.noteProgress(id, PROGRESS)).toBe(false);
    expect(await shown()).toMatchObject({ endedAt: null });
    await endLease();
    expect(await other.begin(aRun())).toBe(true);
    expect(await store.noteProgress(id, PROGRESS)).toBe(true);
    await store.end(id, PROGRESS, { report: REPORT, failure: null });
    expect(await shown()).toMatchObject({ endedAt: null, report: null });
  });

  it('is deleted a day after it began', async () => {
    await begun();
    const nowMs = Date.now();
    await forgetExpired(console, nowMs);
    expect(await shown()).toBeDefined();
    await forgetExpired(console, nowMs + 86_500_000);
    expect(await shown()).toBeUndefined();
  });
});
