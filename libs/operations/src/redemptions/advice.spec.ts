/** What an operator is told about a redemption in `attention`: on the pages, in the commands, and in the handbook. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  type Address,
  FRESHNESS_WINDOW_MS,
  newRedemption,
  PARTNER_CAPABILITIES,
  type PartnerId,
  type Redemption,
  type UuidV7,
} from '#libs/domain';
import { asCommand, asTitle } from '../text/action-words.js';
import { ACTION_NAMES } from './actions.js';
import { refusedActions } from './named-actions.js';
import { ATTENTION, attentionAdvice } from './waits-for.js';

const NOW_MS = Date.parse('2026-11-23T12:00:00Z');
const ID = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;
const PARTNER = '5f0c1f0e-0000-4000-8000-000000000001' as PartnerId;
const WALLET = `0x${'11'.repeat(20)}` as Address;
const POLICY = { capabilities: [], confirms: false } as const;

function stopped(change: Partial<Redemption>): Redemption {
  const terms = {
    ...{ id: ID, partner: PARTNER, wallet: WALLET, points: 5000n },
    usdAmount: { digits: 5000n, scale: 2 },
    ...{ tokenAmount: 1n, tokenDecimals: 18, priceUsd: { digits: 15n, scale: 2 } },
    quoteExpiresAtMs: NOW_MS,
  };
  const state = { state: 'attention', resume: 'reverting' } as const;
  return { ...newRedemption(terms, NOW_MS), ...state, ...change };
}

describe('refusedActions', () => {
  const context = { nowMs: NOW_MS, policy: POLICY };

  it('says from when an action that is named can be done', () => {
    const lastDeductAtMs = NOW_MS - 60_000;
    const redemption = stopped({ reason: 'deduction-unresolved', lastDeductAtMs });
    expect(refusedActions(redemption, context)).toEqual([
      {
        action: 'not-deducted',
        command: 'redemption resolve',
        title: 'End it: the partner took no points',
        why: `Not now: A call to deduct could still reach the partner. Possible from ${new Date(lastDeductAtMs + FRESHNESS_WINDOW_MS + 1).toISOString()} on.`,
      },
    ]);
    const later = { ...context, nowMs: lastDeductAtMs + FRESHNESS_WINDOW_MS + 1 };
    expect(refusedActions(redemption, later)).toEqual([]);
  });

  it('says why one cannot be done that no time will allow', () => {
    const change = { reason: 'revert-exhausted', partnerTransactionId: 'T-1' } as const;
    expect(refusedActions(stopped(change), context)).toEqual([
      expect.objectContaining({
        action: 'not-deducted',
        why: 'Not now: The partner has confirmed this deduction.',
      }),
    ]);
  });

  it('has none that the advice does not name, and none outside attention', () => {
    const fresh = { lastDeductAtMs: NOW_MS } as const;
    expect(refusedActions(stopped({ ...fresh, reason: 'amount-disputed' }), context)).toEqual([]);
    const deducting = stopped({ ...fresh, state: 'deducting', reason: null });
    expect(refusedActions(deducting, context)).toEqual([]);
  });
});

const page = readFileSync(
  new URL('../../../../docs/operating/redemption.md', import.meta.url),
  'utf8',
);

describe('the advice', () => {
  it.each(Object.keys(ATTENTION) as (keyof typeof ATTENTION)[])(
    'for %s is in the handbook, and on a page names no command of a redemption',
    (reason) => {
      expect(page).toContain(`| \`${reason}\``);
      const text = attentionAdvice({ id: ID, reason }, asTitle);
      expect(text).not.toMatch(/`redemption /);
      expect(text).not.toContain(ID);
    },
  );

  it('names this redemption in the commands', () => {
    const advice = attentionAdvice({ id: ID, reason: 'deduction-unresolved' });
    expect(advice).toContain(`\`redemption resolve ${ID} --not-deducted\``);
    expect(advice).not.toContain(' ID');
    expect(attentionAdvice({ id: ID, reason: null })).toMatch(/timeline/);
  });

  it('is of a handbook that knows the first capability', () => {
    expect(page).toContain(`\`${PARTNER_CAPABILITIES[0]}\``);
  });
});

describe('the words for actions', () => {
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
