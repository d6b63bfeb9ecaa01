import { describe, expect, it } from '@jest/globals';
import { actorText, eventText, noConfirmationText, reasonText, stateText } from './plain-words.js';

describe('plain words', () => {
  it('stand for what the ledger has', () => {
    expect(stateText('authorised')).toBe('ready to be claimed');
    expect(reasonText('claim-timeout')).toBe('the player did not claim in time');
    expect(eventText('create')).toBe('the player asked for it');
    expect(eventText('plan-committed')).toBe('the payout was prepared');
    expect(actorText('worker')).toBe('our service');
  });

  it('leave what is not listed as it is', () => {
    expect(reasonText('toString')).toBe('toString');
    expect(eventText('constructor')).toBe('constructor');
  });

  it('tell a confirmation that is still to come from one that never will', () => {
    expect(noConfirmationText('authorised')).toBe('None yet: it comes when the redemption ends.');
    expect(noConfirmationText('attention')).toBe('None yet: it comes when the redemption ends.');
    expect(noConfirmationText('failed')).toContain('took no points');
    expect(noConfirmationText('reverted')).toBe('None: you took none when it ended.');
  });
});
