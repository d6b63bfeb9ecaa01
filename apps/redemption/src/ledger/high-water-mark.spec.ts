import { expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { createLogger, Registry } from '#libs/service';
import { Alerts } from '../observe/alerts.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { HighWaterMark } from './high-water-mark.js';

it('keeps the transition that was committed last, also after the clock was set back', async () => {
  const logger = createLogger({ app: 'test', level: 'silent' });
  const alerts = new HourlyAlerts(new Alerts(new Registry(), logger), new FakeClock(0));
  const mark = new HighWaterMark(undefined, alerts, logger);
  const redemptionId = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;
  const seen = { redemptionId, event: 'call-due', requestId: redemptionId };
  await mark.keep({ ...seen, version: 2, atMs: 3_600_000 });
  await mark.keep({ ...seen, version: 4, atMs: 1000 });
  expect(mark.seen?.version).toBe(4);
});
