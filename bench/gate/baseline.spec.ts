import { describe, expect, it } from '@jest/globals';
import { accepted, judge, readBaseline } from './baseline.js';
import { MARKS } from './gated.js';

describe('the gate', () => {
  const mark = { ratio: 2, commit: 'abc' };

  it('has a mark for each ratio that it measures, and no other', () => {
    expect(Object.keys(readBaseline()).toSorted()).toEqual(MARKS.toSorted());
  });

  it('lets the best round be a quarter above the mark', () => {
    const verdict = (...rounds: number[]): boolean | undefined =>
      judge([{ name: 'backfill', rounds }], { backfill: mark })[0]?.isRight;
    expect(verdict(9, 2.5, 4)).toBe(true);
    expect(verdict(2.51, 3)).toBe(false);
    expect(verdict(0.1)).toBe(true);
  });

  it('refuses a ratio without a mark, and a mark without a ratio', () => {
    expect(judge([{ name: 'new', rounds: [1] }], {})[0]?.isRight).toBe(false);
    expect(judge([{ name: 'backfill', rounds: [] }], { backfill: mark })[0]?.isRight).toBe(false);
    const rounds = [Number.NaN];
    expect(judge([{ name: 'backfill', rounds }], { backfill: mark })[0]?.isRight).toBe(false);
  });

  it('accepts the marks that are named, and leaves the others as they are', () => {
    const baseline = { backfill: mark, days: mark };
    const verdicts = judge(
      [
        { name: 'backfill', rounds: [1.234, 3] },
        { name: 'days', rounds: [5] },
      ],
      baseline,
    );
    const now = { ratio: 1.23, commit: 'def' };
    expect(accepted(baseline, verdicts, { names: 'backfill', commit: 'def' })).toEqual({
      backfill: now,
      days: mark,
    });
    expect(accepted(baseline, verdicts, { names: 'all', commit: 'def' })).toEqual({
      backfill: now,
      days: { ratio: 5, commit: 'def' },
    });
    expect(() => accepted(baseline, verdicts, { names: 'api', commit: 'def' })).toThrow(
      '--accept: api was not measured',
    );
  });
});
