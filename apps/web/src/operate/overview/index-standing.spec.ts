import { expect, it } from '@jest/globals';
import { standingOf } from './index-standing';

const level = { halted: null, syncedAt: '2026-11-23T12:00:00.000Z', lagSeconds: 2 };
const halted = { at: '2026-11-23T12:00:00.000Z', reason: 'Two nodes differ.' };

it.each([
  [level, 'ready', 'good', 'level with the chain'],
  [level, undefined, 'good', 'level with the chain'],
  [level, 'not-set', 'good', 'level with the chain'],
  [level, 'no-answer', 'bad', 'the indexer does not answer'],
  [level, 'not-ready', 'warning', 'the indexer is not ready'],
  [{ ...level, lagSeconds: 60 }, 'ready', 'good', 'level with the chain'],
  [{ ...level, lagSeconds: 89 }, 'ready', 'neutral', '1 min 29 s behind the clock'],
  [{ ...level, lagSeconds: 601 }, 'ready', 'warning', '10 min 1 s behind the clock'],
  [{ ...level, lagSeconds: 601 }, 'no-answer', 'bad', 'the indexer does not answer'],
  [{ ...level, syncedAt: null }, 'not-ready', 'busy', 'first sync under way'],
  [{ ...level, halted }, 'no-answer', 'bad', 'halted'],
] as const)('%j with an indexer that is %s is %s: %s', (index, indexer, tone, text) => {
  expect(standingOf(index, indexer)).toEqual({ tone, text });
});
