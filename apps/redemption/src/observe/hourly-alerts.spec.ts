import { expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing/clock';
import { type Alert, type Alerts } from './alerts.js';
import { HourlyAlerts } from './hourly-alerts.js';

const ALERT: Alert = { severity: 'critical', code: 'evidence-invalid' };
const HOUR_MS = 3_600_000;

it('an alert that goes on is raised once an hour, each subject by itself', () => {
  const raised: Alert[] = [];
  const alerts = { raise: (alert: Alert) => void raised.push(alert) } as unknown as Alerts;
  const clock = new FakeClock(1_000_000);
  const hourly = new HourlyAlerts(alerts, clock);
  const raise = (): number => {
    for (const about of ['one', 'other']) hourly.raise(ALERT, about);
    return raised.length;
  };
  expect([raise(), raise()]).toEqual([2, 2]);
  clock.advance(HOUR_MS - 1);
  expect(raise()).toBe(2);
  clock.advance(1);
  expect(raise()).toBe(4);
});
