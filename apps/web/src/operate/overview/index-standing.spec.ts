import { expect, it } from '@jest/globals';
import { standingOf } from './index-standing.js';

const level = { halted: null, syncedAt: '2026-11-23T12:00:00.000Z', lagSeconds: 2 };
const halted = { at: '2026-11-23T12:00:00.000Z', reason: 'Two nodes differ.' };

it.each([
  [level, 'ready', 'good', 'level'],
  [level, undefined, 'good', 'level'],
  [level, 'not-set', 'good', 'level'],
  [level, 'no-answer', 'bad', 'noAnswer'],
  [level, 'not-ready', 'warning', 'notReady'],
  [{ ...level, lagSeconds: -20 }, 'ready', 'good', 'level'],
  [{ ...level, lagSeconds: -7199 }, 'ready', 'warning', 'ahead'],
  [{ ...level, lagSeconds: 60 }, 'ready', 'good', 'level'],
  [{ ...level, lagSeconds: 89 }, 'ready', 'neutral', 'behind'],
  [{ ...level, lagSeconds: 601 }, 'ready', 'warning', 'behind'],
  [{ ...level, lagSeconds: 601 }, 'no-answer', 'bad', 'noAnswer'],
  [{ ...level, syncedAt: null }, 'not-ready', 'busy', 'firstSync'],
  [{ ...level, halted }, 'no-answer', 'bad', 'halted'],
] as const)('%j with an indexer that is %s is %s: %s', (index, indexer, tone, is) => {
  expect(standingOf(index, indexer)).toEqual({ tone, is });
});
