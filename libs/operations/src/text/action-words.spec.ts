import { describe, expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { ACTION_NAMES } from '../redemptions/actions.js';
import { ATTENTION, attentionAdvice } from '../redemptions/waits-for.js';
import { asCommand, asTitle } from './action-words.js';

const ID = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;

describe('the words for actions', () => {
  it.each(Object.keys(ATTENTION) as (keyof typeof ATTENTION)[])(
    'the advice for %s names no command of a redemption on a page',
    (reason) => {
      const text = attentionAdvice({ id: ID, reason }, asTitle);
      expect(text).not.toMatch(/`redemption /);
      expect(text).not.toContain(ID);
    },
  );

  it('are commands to type, with the redemption if it is known', () => {
    expect(ACTION_NAMES.map((action) => asCommand(action, ID))).toEqual([
      `\`redemption retry ${ID}\``,
      `\`redemption cancel ${ID}\``,
      `\`redemption set-partner-tx ${ID} TRANSACTION\``,
      `\`redemption resolve ${ID} --restored-out-of-band\``,
      `\`redemption resolve ${ID} --not-deducted\``,
      `\`redemption resolve ${ID} --settled-by-hand NOTE\``,
      `\`redemption replay-confirm ${ID}\``,
    ]);
    expect(asCommand('settled-by-hand')).toBe('`redemption resolve --settled-by-hand NOTE`');
  });

  it('are the titles of buttons on a page', () => {
    expect(ACTION_NAMES.map((action) => asTitle(action, ID))).toEqual([
      '“Go on now”',
      '“Cancel”',
      '“Give the partner’s transaction id”',
      '“End it: the partner gave the points back by hand”',
      '“End it: the partner took no points”',
      '“Close it: settled with the partner by hand”',
      '“Send the confirmation again”',
    ]);
  });
});
