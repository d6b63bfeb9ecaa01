/** The results of an operator's commands in the cells of the transition table, for the specs. */
import { aClaim, aCall, anExpiry, aPlan, START_MS } from './builders.js';
import { noteIn, type Way } from './ways.js';

/** For redemptions that are under way: what is refused while a call is open, and the guard of each command. */
export function operatorWays(): Way[] {
  const ways: Way[] = [];
  const way = noteIn(ways);
  const later = { context: { nowMs: START_MS + 3_600_000 } };
  const noCall = { openCall: null };
  const nameless = { ...noCall, partnerTransactionId: null };
  const lost = { lostVoucherUntilSeconds: START_MS / 1000 + 4000 };
  const planned = { ...noCall, plan: aPlan() };
  const dead = { ...planned, deadEvidence: anExpiry() };
  const empty = { event: { partnerTransactionId: '' } };

  way('no call is open', ['deducting', 'operator-retry'], { redemption: noCall }, 'deducting');
  way('the call is lost', ['deducting', 'operator-retry'], later, 'deducting');
  way(
    'asked for by the operator',
    ['deducting', 'operator-set-transaction'],
    { redemption: noCall },
    'reverting',
  );
  way(
    'an empty id',
    ['deducting', 'operator-set-transaction'],
    { redemption: noCall, ...empty },
    '!invalid-transaction-id',
  );
  way(
    'a late call may arrive',
    ['deducting', 'operator-not-deducted'],
    { redemption: noCall },
    '!too-fresh',
  );
  way('no call can arrive', ['deducting', 'operator-not-deducted'], later, 'failed');
  way(
    'a lost voucher may be open',
    ['deducting', 'operator-not-deducted'],
    { redemption: { ...noCall, ...lost }, ...later },
    '!vault-not-asked',
  );

  way('no call is open', ['reverting', 'operator-retry'], { redemption: noCall }, 'reverting');
  way('the call is lost', ['reverting', 'operator-retry'], later, 'reverting');
  way(
    'unresolved',
    ['reverting', 'operator-set-transaction'],
    { redemption: nameless },
    'reverting',
  );
  way(
    'known',
    ['reverting', 'operator-set-transaction'],
    { redemption: noCall },
    '!transaction-id-known',
  );
  way(
    'an empty id',
    ['reverting', 'operator-set-transaction'],
    { redemption: nameless, ...empty },
    '!invalid-transaction-id',
  );
  for (const [type, end] of [
    ['operator-restored', 'reverted'],
    ['operator-not-deducted', 'failed'],
  ] as const) {
    way('the vault was asked', ['reverting', type], { redemption: nameless, ...later }, end);
    const unasked = { ...nameless, firstRevertAtMs: null };
    way(
      'the vault was not asked',
      ['reverting', type],
      { redemption: unasked, ...later },
      '!vault-not-asked',
    );
    way(
      'a lost voucher may be open',
      ['reverting', type],
      { redemption: { ...nameless, ...lost }, ...later },
      '!vault-not-asked',
    );
    way(
      'a plan without dead evidence',
      ['reverting', type],
      { redemption: { ...nameless, ...planned, partnerTransactionId: null }, ...later },
      '!vault-not-asked',
    );
    const open = { openCall: aCall('revert', { startedAtMs: START_MS + 3_500_000 }) };
    way('a call is under way', ['reverting', type], { redemption: open, ...later }, '!call-open');
  }
  for (const [type, end] of [
    ['operator-restored', 'reverted'],
    ['operator-not-deducted', 'failed'],
  ] as const) {
    const held = { redemption: { ...nameless, ...lost } };
    const afterHours = (count: number) => ({ context: { nowMs: START_MS + count * 3_600_000 } });
    way(
      'a lost voucher may be open',
      ['attention', type],
      { ...held, ...afterHours(2) },
      '!vault-not-asked',
    );
    way('a lost voucher has expired', ['attention', type], { ...held, ...afterHours(3) }, end);
  }
  way('dead by its row', ['reverting', 'operator-restored'], { redemption: dead }, 'reverted');
  way(
    'known to be deducted',
    ['reverting', 'operator-not-deducted'],
    { redemption: dead, ...later },
    '!deduction-proven',
  );
  way(
    'a late call may arrive',
    ['reverting', 'operator-not-deducted'],
    { redemption: nameless },
    '!too-fresh',
  );
  way(
    'points and tokens gone',
    ['attention', 'operator-settled'],
    { redemption: { ...dead, paidEvidence: aClaim(), reason: 'paid-after-dead' } },
    'attention',
  );
  return ways;
}
