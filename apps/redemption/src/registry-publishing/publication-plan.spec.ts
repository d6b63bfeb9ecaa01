import { beforeAll, describe, expect, it } from '@jest/globals';
import { type PublishableDay, type SealedRange } from '#libs/db';
import { type Keccak256, type NodeHash, parseDay } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { currentContent, planFrom, type PlanRules } from './publication-plan.js';

const NOW = 10_000_000;
const rules: PlanRules = { period: 'day', delayMs: 1_000, nowMs: NOW };
let keccak: Keccak256;
beforeAll(async () => {
  keccak = await createKeccak256();
});

const dayNumber = (text: string): number => parseDay(text) ?? NaN;
function aDay(day: number, changes: Partial<PublishableDay> = {}): PublishableDay {
  const root = `0x${day.toString(16).padStart(64, '7')}` as NodeHash;
  return { day, revision: 1, root, sealedAt: new Date(NOW - 1_000), ...changes };
}
function sealed(first: number, count: number, recheckFrom?: number): SealedRange {
  return { days: Array.from({ length: count }, (_, at) => aDay(first + at)), recheckFrom };
}
const spans = (first: number, range: SealedRange, changes: Partial<PlanRules> = {}) =>
  planFrom(first, range, { ...rules, ...changes }, keccak).map(
    ({ kind, firstDay, lastDay }) => `${kind} ${firstDay}-${lastDay}`,
  );

describe('a plan', () => {
  it('of days ends at the first that is not ready', () => {
    expect(spans(100, sealed(100, 3))).toEqual(['day 100-100', 'day 101-101', 'day 102-102']);
    expect(spans(100, sealed(101, 3))).toEqual([]);
    expect(spans(100, sealed(100, 3, 101))).toEqual(['day 100-100']);
    const { days } = sealed(100, 3);
    const fresh = days.with(1, aDay(101, { sealedAt: new Date(NOW - 999) }));
    expect(spans(100, { days: fresh, recheckFrom: undefined })).toEqual(['day 100-100']);
    const gap = days.filter(({ day }) => day !== 101);
    expect(spans(100, { days: gap, recheckFrom: undefined })).toEqual(['day 100-100']);
  });

  it('of months has whole ones only, the first from its day on', () => {
    const month = { period: 'month' } as const;
    const [first, end] = [dayNumber('2028-02-28'), dayNumber('2028-02-29')];
    expect(spans(first, sealed(first, 1), month)).toEqual([]);
    expect(spans(first, sealed(first, 2), month)).toEqual([`period ${first}-${end}`]);
    expect(spans(first, sealed(first, 32), month)).toEqual([`period ${first}-${end}`]);
    const march = `period ${end + 1}-${dayNumber('2028-03-31')}`;
    expect(spans(first, sealed(first, 33), month)).toEqual([`period ${first}-${end}`, march]);
    expect(spans(end, sealed(end, 1), month)).toEqual([`period ${end}-${end}`]);
    const december = dayNumber('2027-12-01');
    expect(spans(december, sealed(december, 31), month)).toEqual([
      `period ${december}-${december + 30}`,
    ]);
  });
});

describe('what a publication would be now', () => {
  const slot = { kind: 'day', firstDay: 100, lastDay: 100 } as const;

  it('follows the newest revision', () => {
    const root = `0x${'9'.repeat(64)}` as NodeHash;
    const range = { days: [aDay(100, { revision: 2, root })], recheckFrom: undefined };
    expect(currentContent(slot, range, rules, keccak)).toEqual({ ...slot, revisions: [2], root });
  });

  it('is not known while a day is missing, fresh or being worked out again', () => {
    const period = { kind: 'period', firstDay: 100, lastDay: 102 } as const;
    expect(currentContent(period, sealed(100, 3), rules, keccak)).toMatchObject({
      ...period,
      revisions: [1, 1, 1],
    });
    for (const range of [sealed(100, 2), sealed(100, 3, 102), sealed(101, 3)]) {
      expect(currentContent(period, range, rules, keccak)).toBeUndefined();
    }
    expect(currentContent(period, sealed(100, 3), { ...rules, delayMs: 1_001 }, keccak)).toBe(
      undefined,
    );
  });
});
