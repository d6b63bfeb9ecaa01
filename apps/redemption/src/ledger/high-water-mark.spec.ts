import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { createLogger, Registry } from '#libs/service';
import { Alerts } from '../observe/alerts.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { HighWaterMark } from './high-water-mark.js';

const ID = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;
const seen = { redemptionId: ID, event: 'call-due', requestId: ID, version: 2, atMs: 3_600_000 };

let folder: string;
let path: string;
let said: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mark-'));
  path = join(folder, 'mark');
});
beforeEach(() => {
  said = '';
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function aMark(at?: string): HighWaterMark {
  const destination = { write: (line: string) => (said += line) };
  const logger = createLogger({ app: 'test', level: 'info', destination });
  const alerts = new HourlyAlerts(new Alerts(new Registry(), logger), new FakeClock(0));
  return new HighWaterMark(at, alerts, logger);
}

describe('the newest transition', () => {
  it('is the one that was committed last, also after the clock was set back', async () => {
    const mark = aMark();
    await mark.keep(seen);
    await mark.keep({ ...seen, version: 4, atMs: 1000 });
    expect(mark.seen?.version).toBe(4);
  });

  it('is on the disk when it is kept, and read after a restart', async () => {
    await aMark(path).keep(seen);
    const next = aMark(path);
    await next.read();
    expect(next.seen).toEqual(seen);
  });
});

describe('the file', () => {
  const text = JSON.stringify(seen);

  it.each([
    ['not JSON', 'x'],
    ['cut off', text.slice(0, 30)],
    ['of another kind', '[1]'],
    ['null', 'null'],
    ['of a version that is none', text.replace('"version":2', '"version":-1')],
    ['without what happened', text.replace('"event"', '"other"')],
  ])('that is %s begins again, and says so', async (_case, broken) => {
    writeFileSync(path, broken);
    const mark = aMark(path);
    await mark.read();
    expect(mark.seen).toBeUndefined();
    expect(said).toContain('cannot be read');
    await mark.keep(seen);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(seen);
  });

  it('that cannot be written raises an alert, and the mark is kept in memory', async () => {
    const mark = aMark(join(folder, 'missing', 'mark'));
    await mark.keep(seen);
    expect(said).toContain('"alert":"ledger-mark-not-written"');
    expect(mark.seen).toEqual(seen);
  });
});
