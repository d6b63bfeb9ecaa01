import { describe, expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { ATTENTION, attentionAdvice } from '../redemptions/waits-for.js';
import { inPageWords } from './page-words.js';

const ID = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;

describe('inPageWords', () => {
  it.each(Object.keys(ATTENTION) as (keyof typeof ATTENTION)[])(
    'the advice for %s names no command of a redemption',
    (reason) => {
      const text = inPageWords(attentionAdvice({ id: ID, reason }));
      expect(text).not.toMatch(/`redemption /);
      expect(text).not.toContain(ID);
    },
  );

  it('names the buttons in the place of their commands, and leaves what has no button', () => {
    const text =
      'Restored: `ledger restored`, then `redemption retry X`; settled: `redemption resolve X --settled-by-hand NOTE`; else `redemption set-partner-tx X TRANSACTION` or `redemption resolve X --not-deducted`, or `redemption show X`.';
    expect(inPageWords(text)).toBe(
      'Restored: `ledger restored`, then “Go on now”; settled: “Close it: settled with the partner by hand”; else “Give the partner’s transaction id” or “End it: the partner took no points”, or `redemption show X`.',
    );
  });
});
