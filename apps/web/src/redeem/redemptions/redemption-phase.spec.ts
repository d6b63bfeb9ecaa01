import { describe, expect, it } from '@jest/globals';
import { type Redemption } from '../config.js';
import { phaseOf, type SeenOnChain, stepsOf } from './redemption-phase.js';

const NOW = Date.UTC(2026, 10, 23, 12, 0);
const LATER = new Date(NOW + 60_000).toISOString();
const EARLIER = new Date(NOW - 60_000).toISOString();
const SENT = { hash: `0x${'1'.repeat(64)}`, sentAtMs: NOW };

function aRedemption(changes: Partial<Redemption>): Redemption {
  const voucher = { deadline: NOW / 1000 + 60 } as Redemption['voucher'];
  return {
    ...{ stage: 'authorised', cancelRequested: false, voucher, payableUntil: LATER },
    ...{ initialAt: EARLIER, pendingAt: EARLIER, deductedAt: EARLIER, authorisedAt: EARLIER },
    ...{ claimedAt: null, revertedAt: null, failedAt: null },
    ...changes,
  } as Redemption;
}

const phase = (changes: Partial<Redemption>, sent = false, seen?: SeenOnChain) =>
  phaseOf(aRedemption(changes), { sent: sent ? SENT : undefined, seen, nowMs: NOW });

describe('where a redemption is', () => {
  it.each([
    ['created', 'starting'],
    ['deducting', 'taking'],
    ['deducted', 'preparing'],
    ['reverting', 'returning'],
    ['attention', 'attention'],
    ['claimed', 'claimed'],
    ['reverted', 'reverted'],
    ['failed', 'failed'],
  ] as const)('%s is %s, whatever else is kept', (stage, expected) => {
    expect(phase({ stage })).toBe(expected);
    expect(phase({ stage }, true, 'claimed')).toBe(expected);
  });

  it('with a voucher follows what was sent and what the chain says', () => {
    expect(phase({})).toBe('claimable');
    expect(phase({}, true)).toBe('sent');
    expect(phase({}, false, 'claimed')).toBe('inBlock');
    expect(phase({}, true, 'cancelled')).toBe('cancelling');
    expect(phase({ payableUntil: EARLIER })).toBe('over');
    expect(phase({ voucher: null })).toBe('over');
    expect(phase({ payableUntil: EARLIER }, true)).toBe('sentOver');
    expect(phase({ payableUntil: EARLIER }, true, 'open')).toBe('sentOver');
    expect(phase({ payableUntil: EARLIER }, true, 'claimed')).toBe('inBlock');
    expect(phase({ voucher: null, cancelRequested: true })).toBe('cancelling');
    // A claim that the chain has accepted counts, despite the request to cancel.
    expect(phase({ cancelRequested: true }, true, 'claimed')).toBe('inBlock');
  });
});

describe('its timeline', () => {
  const names = (changes: Partial<Redemption>, sent = false) => {
    const redemption = aRedemption(changes);
    const steps = stepsOf(redemption, phase(changes, sent), sent ? SENT : undefined);
    return steps.map(({ name, state }) => `${name} ${state}`);
  };
  const nothingYet = { deductedAt: null, authorisedAt: null, voucher: null, payableUntil: null };

  it('shows what will be if all goes well', () => {
    expect(names({ ...nothingYet, stage: 'deducting' })).toEqual([
      ...['started done', 'taken now', 'voucher next', 'claimSent next', 'claimed next'],
    ]);
    expect(names({})).toEqual([
      ...['started done', 'taken done', 'voucher done', 'claimSent now', 'claimed next'],
    ]);
    expect(names({}, true).slice(-2)).toEqual(['claimSent done', 'claimed now']);
    expect(names({ stage: 'claimed', claimedAt: LATER }, true).slice(-2)).toEqual([
      ...['claimSent done', 'claimed done'],
    ]);
    expect(names({ stage: 'claimed', claimedAt: LATER }).slice(-2)).toEqual([
      ...['voucher done', 'claimed done'],
    ]);
    expect(names({ payableUntil: EARLIER }, true).slice(-2)).toEqual([
      ...['claimSent done', 'claimed now'],
    ]);
  });

  it('shows the way back, without what never was', () => {
    expect(names({ stage: 'reverting', authorisedAt: null })).toEqual([
      ...['started done', 'taken done', 'returning now', 'reverted next'],
    ]);
    expect(names({ stage: 'reverted', revertedAt: LATER }).slice(-2)).toEqual([
      ...['returning done', 'reverted done'],
    ]);
  });

  it('ends where nothing was taken', () => {
    expect(names({ ...nothingYet, stage: 'failed', failedAt: LATER })).toEqual([
      ...['started done', 'failed done'],
    ]);
  });

  it('stops where a person looks into it', () => {
    expect(names({ stage: 'attention' }).at(-1)).toBe('attention now');
  });
});
