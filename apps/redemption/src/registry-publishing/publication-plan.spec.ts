import { describe, expect, it } from '@jest/globals';
import { type PublishableDay, type SealedRange } from '#libs/db';
import { type NodeHash } from '#libs/domain';
import { currentContent, planFrom, type PlanRules } from './publication-plan.js';

const NOW = 10_000_000;
const rules: PlanRules = { delayMs: 1_000, nowMs: NOW };

function aDay(day: number, changes: Partial<PublishableDay> = {}): PublishableDay {
  const root = `0x${day.toString(16).padStart(64, '7')}` as NodeHash;
  return { day, revision: 1, root, sealedAt: new Date(NOW - 1_000), ...changes };
}
function sealed(first: number, count: number, recheckFrom?: number): SealedRange {
  return { days: Array.from({ length: count }, (_, at) => aDay(first + at)), recheckFrom };
}
const planned = (first: number, range: SealedRange) =>
  planFrom(first, range, rules).map(({ day }) => day);

describe('a plan', () => {
  it('of days ends at the first that is not ready', () => {
    expect(planned(100, sealed(100, 3))).toEqual([100, 101, 102]);
    expect(planned(100, sealed(101, 3))).toEqual([]);
    expect(planned(100, sealed(100, 3, 101))).toEqual([100]);
    const { days } = sealed(100, 3);
    const fresh = days.with(1, aDay(101, { sealedAt: new Date(NOW - 999) }));
    expect(planned(100, { days: fresh, recheckFrom: undefined })).toEqual([100]);
    const gap = days.filter(({ day }) => day !== 101);
    expect(planned(100, { days: gap, recheckFrom: undefined })).toEqual([100]);
  });
});

describe('what a publication would be now', () => {
  it('follows the newest revision', () => {
    const root = `0x${'9'.repeat(64)}` as NodeHash;
    const range = { days: [aDay(100, { revision: 2, root })], recheckFrom: undefined };
    expect(currentContent(100, range, rules)).toEqual({ day: 100, revision: 2, root });
  });

  it('is not known while a day is missing, fresh or being worked out again', () => {
    expect(currentContent(102, sealed(100, 3), rules)).toMatchObject({ day: 102, revision: 1 });
    for (const range of [sealed(100, 2), sealed(100, 3, 102), sealed(103, 3)]) {
      expect(currentContent(102, range, rules)).toBeUndefined();
    }
    expect(currentContent(102, sealed(100, 3), { ...rules, delayMs: 1_001 })).toBe(undefined);
  });
});
