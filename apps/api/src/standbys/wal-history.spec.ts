import { describe, expect, it } from '@jest/globals';
import { WalHistory } from './wal-history.js';

function historyOf(...samples: [atMs: number, bytes: bigint][]): WalHistory {
  const history = new WalHistory(2000);
  for (const [atMs, bytes] of samples) history.ask(atMs)(bytes);
  return history;
}

describe('WalHistory', () => {
  it('knows the newest moment that a position is level with', () => {
    const history = historyOf([1000, 10n], [1250, 20n], [1500, 20n], [1750, 30n]);
    expect(history.levelAt(9n)).toBeUndefined();
    expect(history.levelAt(10n)).toBe(1000);
    expect(history.levelAt(29n)).toBe(1500);
    expect(history.levelAt(1000n)).toBe(1750);
    expect(history.answeredAtMs).toBe(1750);
  });

  it('knows nothing before the primary answered', () => {
    const history = new WalHistory(2000);
    history.ask(1000);
    expect([history.answeredAtMs, history.levelAt(5n)]).toEqual([undefined, undefined]);
  });

  it('forgets what is longer ago than it reaches', () => {
    const history = historyOf([1000, 10n], [3000, 20n], [3001, 30n]);
    expect(history.levelAt(19n)).toBeUndefined();
    expect(history.levelAt(20n)).toBe(3000);
  });

  it('begins anew where the clock was put back, and where the log is shorter than it was', () => {
    expect(historyOf([5000, 10n], [4000, 20n]).levelAt(10n)).toBeUndefined();
    expect(historyOf([5000, 30n], [5250, 20n]).levelAt(30n)).toBe(5250);
    expect(historyOf([5000, 30n], [5250, 20n]).levelAt(19n)).toBeUndefined();
  });

  it('tells another history by a later question only', () => {
    const history = historyOf([1000, 10n]);
    const since = history.questionsBegun;
    expect(history.isShorterThan(11n, since)).toBe(false);
    const answered = history.ask(1250);
    const during = history.questionsBegun;
    answered(10n);
    expect(history.isShorterThan(11n, since)).toBe(true);
    expect(history.isShorterThan(10n, since)).toBe(false);
    expect(history.isShorterThan(11n, during)).toBe(false);
  });
});
