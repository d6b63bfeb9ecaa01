/**
 * A ledger that `pg_restore` takes back in time, without a command of ours: noticed by the service that runs, and by
 * the file of the newest transition across a restart.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createDatabase,
  type Database,
  LedgerRestoreStore,
  migrate,
  RedemptionStore,
} from '#libs/db';
import { systemClock } from '#libs/platform';
import { createLogger, Registry } from '#libs/service';
import { eventually } from '#libs/testing/clock';
import { HighWaterMark } from '../../apps/redemption/src/ledger/high-water-mark.js';
import { LedgerWatch } from '../../apps/redemption/src/ledger/ledger-watch.js';
import { Alerts } from '../../apps/redemption/src/observe/alerts.js';
import { HourlyAlerts } from '../../apps/redemption/src/observe/hourly-alerts.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  decided,
  someLimits,
} from '../../libs/db/src/redemption/testing/builders.js';
import { LocalPostgres } from '../operating/machine/local-postgres.js';

const MINUTES_MS = 120_000;
const NOT_NOTED = { code: 'RESTORE_NOT_NOTED' };

let postgres: LocalPostgres;
let folder: string;
let database: Database;
let store: RedemptionStore;

beforeAll(async () => {
  postgres = await LocalPostgres.start();
  await migrate(postgres.url);
}, MINUTES_MS);
afterAll(() => postgres.stop());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'silent-restore-'));
  database = await createDatabase({ url: postgres.url, applicationName: 'test' });
  store = new RedemptionStore(database);
});
afterEach(async () => {
  await database.query({ text: 'DELETE FROM redemption.unnoted_restore' });
  await database.close();
  rmSync(folder, { recursive: true });
});

function tool(name: string, ...words: readonly string[]): void {
  const env = { ...process.env, ...postgres.environment };
  execFileSync(join(postgres.tools, name), ['-U', 'lowmark', ...words], { env, stdio: 'pipe' });
}

function dump(): string {
  const path = join(folder, 'ledger.dump');
  tool('pg_dump', '-Fc', '-f', path, 'lowmark');
  return path;
}

/** As an operator does by hand. Connections end, and the pool of the service opens others. */
async function restore(path: string): Promise<void> {
  for (const statement of ['DROP DATABASE lowmark WITH (FORCE)', 'CREATE DATABASE lowmark']) {
    tool('psql', '-q', '-d', 'postgres', '-c', statement);
  }
  tool('pg_restore', '--exit-on-error', '-d', 'lowmark', path);
  const query = { text: 'SELECT FROM redemption.redemption' };
  await eventually(() =>
    database.query(query).then(
      () => true,
      () => false,
    ),
  );
}

/** A start of the service, as far as the ledger is concerned. */
async function start(markPath?: string): Promise<LedgerWatch> {
  const logger = createLogger({ app: 'test', level: 'silent' });
  const alerts = new Alerts(new Registry(), logger);
  const mark = new HighWaterMark(markPath, new HourlyAlerts(alerts, systemClock), logger);
  const restores = new LedgerRestoreStore(database);
  const watch = new LedgerWatch(restores, mark, alerts, systemClock, logger);
  await watch.onModuleInit();
  return watch;
}

/** Creates a redemption and begins its deduction, as the engine does. */
async function begin(watch: LedgerWatch): Promise<void> {
  const redemption = aNewRedemption({}, Date.now());
  await store.create(redemption, aKey(), someLimits());
  await watch.requireNoted();
  const write = decided(redemption, { type: 'call-due', requestId: aUuid() });
  await store.apply(write);
  await watch.keep(write.decision.next, write.event);
}

async function note(): Promise<void> {
  const nowMs = Date.now();
  const { atMs } = await new LedgerRestoreStore(database).record({
    ...{ nowMs, lostSinceMs: nowMs - 3_600_000, voucherSeconds: 600 },
    ...{ actor: 'operator:ann', command: 'ledger restored', arguments: {} },
  });
  // What is created from now on is later than the note.
  await eventually(() => Date.now() > atMs);
}

describe('pg_restore of an older dump', () => {
  it('is noticed while the service runs, and the note ends that, until the ledger goes back to before the note', async () => {
    const watch = await start();
    await begin(watch);
    const path = dump();
    await begin(watch);
    await restore(path);
    await expect(begin(watch)).rejects.toMatchObject(NOT_NOTED);
    await expect((await start()).requireNoted()).rejects.toMatchObject(NOT_NOTED);
    await note();
    await begin(watch);
    await restore(path);
    await expect(watch.requireNoted()).rejects.toMatchObject(NOT_NOTED);
  });

  it('is noticed after a restart, by the file', async () => {
    const markPath = join(folder, 'newest');
    const path = dump();
    await begin(await start(markPath));
    await restore(path);
    const watch = await start(markPath);
    await expect(watch.requireNoted()).rejects.toMatchObject(NOT_NOTED);
    await expect(store.create(aNewRedemption(), aKey(), someLimits())).rejects.toMatchObject(
      NOT_NOTED,
    );
    await note();
    await begin(await start(markPath));
  });

  it('is not noticed without the file, by a service that was not running', async () => {
    const path = dump();
    await begin(await start());
    await restore(path);
    await (await start()).requireNoted();
  });
});

describe('a ledger that lacks nothing', () => {
  it('is in order after a move by dump, a restart and a migration', async () => {
    const markPath = join(folder, 'newest');
    await begin(await start(markPath));
    await restore(dump());
    await migrate(postgres.url);
    await begin(await start(markPath));
  });

  it('is marked by the statements of our restores, and by no others', async () => {
    const psql = (...words: string[]): void => {
      tool('psql', '-d', 'lowmark', '-q', ...words);
    };
    const marking = ['-v', 'ON_ERROR_STOP=1', '-f', 'deploy/pgbackrest/restored.sql'];
    const watch = await start();
    await restore(dump());
    psql('-c', "SET lowmark.nothing_lost = 'on'", ...marking);
    await begin(watch);
    psql(...marking);
    await expect(begin(watch)).rejects.toMatchObject(NOT_NOTED);
    await note();
    await begin(watch);
  });
});
