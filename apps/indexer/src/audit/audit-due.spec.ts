import { describe, expect, it } from '@jest/globals';
import { isAuditDue } from './audit.service.js';

const at = (text: string): number => Date.parse(`2026-11-${text}Z`);

describe('isAuditDue', () => {
  it.each([
    ['where there was none ever', undefined, '20T12:00:00', true],
    ['from the hour on', '19T03:00:00', '20T03:00:00', true],
    ['not a moment before', '19T03:00:00', '20T02:59:59.999', false],
    ['not twice', '20T03:00:00', '20T03:00:00', false],
    ['not until the next night', '20T03:00:01', '21T02:59:00', false],
    ['later, where it was missed', '19T03:00:00', '20T17:20:00', true],
    ['in the hour, after one that was made up for late', '20T02:50:00', '20T03:00:00', true],
    ['not where the clock went back', '20T03:00:00', '19T23:00:00', false],
  ])('is one %s', (_case, last, now, due) => {
    expect(isAuditDue(3, last === undefined ? undefined : at(last), at(now))).toBe(due);
  });

  it.each([0, 23])('knows the hour %s', (hour) => {
    const struck = Date.UTC(2026, 10, 20, hour);
    expect(isAuditDue(hour, struck - 1, struck)).toBe(true);
    expect(isAuditDue(hour, struck - 1, struck - 1)).toBe(false);
  });
});
