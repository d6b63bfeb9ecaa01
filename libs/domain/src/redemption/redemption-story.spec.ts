import { describe, expect, it } from '@jest/globals';
import { alertsOf, type RedemptionAlert } from './alerts.js';
import { type Command, type TransitionContext } from './decision.js';
import { PARTNER_CAPABILITIES } from './partner-call.js';
import { payoutEvent, type RedemptionEvent } from './redemption-event.js';
import { type Redemption } from './redemption.js';
import {
  aClaim,
  aContext,
  anExpiry,
  aPlan,
  aRedemption,
  aUuid,
  START_MS,
  WALLET,
} from './testing/builders.js';
import { EVENTS } from './testing/events.js';
import { transition } from './transition.js';

const ID = aRedemption('created').id;
const [FIRST, SECOND] = [aUuid(START_MS, 11), aUuid(START_MS, 12)];

/**
 * Applies the events, one second apart unless the redemption waits longer. Returns the last row, all commands and all
 * alerts.
 */
function follow(events: readonly RedemptionEvent[], policy?: TransitionContext['policy']) {
  let row: Redemption = aRedemption('created');
  let nowMs = START_MS;
  const commands: Command[] = [];
  const alerts: RedemptionAlert[] = [];
  for (const event of events) {
    nowMs = Math.max(nowMs + 1000, row.nextActionAtMs ?? 0);
    const context = aContext({ nowMs, ...(policy && { policy }) });
    const decision = transition(row, event, context);
    if (decision.kind === 'refused') throw new Error(`${event.type}: ${decision.code}`);
    alerts.push(...alertsOf(event, row, decision.next));
    row = decision.next;
    if (decision.command !== null) commands.push(decision.command);
  }
  return { row, commands, alerts };
}

const due = (requestId: typeof FIRST): RedemptionEvent => ({
  type: 'call-due',
  requestId,
  neverPaid: anExpiry(),
});
const deductedBy = (requestId: typeof FIRST): RedemptionEvent => ({
  type: 'deduct-confirmed',
  requestId,
  partnerTransactionId: 'tx-1',
});
const DEDUCTED = [due(FIRST), deductedBy(FIRST)];
const PLANNED: RedemptionEvent = { type: 'plan-committed', plan: aPlan() };

describe('the story of a redemption', () => {
  it('that is claimed: each command in its turn', () => {
    const paid = payoutEvent(ID, aClaim(), 1);
    const { row, commands } = follow([
      ...DEDUCTED,
      PLANNED,
      payoutEvent(ID, { outcome: 'live' }, 1),
      paid,
    ]);
    expect(commands).toEqual([
      {
        kind: 'call-partner',
        requestId: FIRST,
        request: {
          step: 'deduct',
          body: { address: WALLET, deductPoints: 5000, svcRedemptionId: ID },
        },
      },
      { kind: 'confirm', payload: expect.objectContaining({ status: 'claimed' }) },
    ]);
    expect(row).toMatchObject({
      version: 6,
      initialAtMs: START_MS,
      pendingAtMs: START_MS + 1000,
      deductedAtMs: START_MS + 2000,
      authorisedAtMs: START_MS + 3000,
      claimedAtMs: aClaim().block.timestampSeconds * 1000,
      revertedAtMs: null,
      nextActionAtMs: null,
    });
  });

  it('that is never claimed: the points go back under the id that the partner gave', () => {
    const dead = payoutEvent(ID, anExpiry(), 1);
    const { row, commands } = follow([
      ...DEDUCTED,
      PLANNED,
      dead,
      due(SECOND),
      {
        type: 'revert-confirmed',
        requestId: SECOND,
        partnerTransactionId: 'tx-1',
        partnerRevertId: 'r',
      },
    ]);
    expect(commands).toContainEqual({
      kind: 'call-partner',
      requestId: SECOND,
      request: {
        step: 'revert',
        body: {
          address: WALLET,
          deductPoints: 5000,
          svcRedemptionId: ID,
          partnerTransactionId: 'tx-1',
          revertReason: 'Timeout: the redemption was not claimed',
        },
      },
    });
    expect(row).toMatchObject({
      state: 'reverted',
      reason: 'claim-timeout',
      deadEvidence: anExpiry(),
      partnerRevertId: 'r',
      claimedAtMs: null,
    });
  });

  it('that the user cancels while the voucher is out: nothing moves before the chain says so', () => {
    const asked = follow([...DEDUCTED, PLANNED, { type: 'cancel', by: 'user' }]);
    expect(asked.row).toMatchObject({ state: 'authorised', revertReason: 'user-cancelled' });
    // The vault is asked to cancel as long as the row has a reason to give the points back.
    expect(asked.row.nextActionAtMs).toBe((asked.row.authorisedAtMs ?? 0) + 1000);
    const paid = follow([
      ...DEDUCTED,
      PLANNED,
      { type: 'cancel', by: 'user' },
      payoutEvent(ID, aClaim(), 1),
    ]);
    expect(paid.row).toMatchObject({ state: 'claimed', reason: null, revertReason: null });
    const dead = follow([
      ...DEDUCTED,
      PLANNED,
      { type: 'cancel', by: 'user' },
      payoutEvent(ID, anExpiry(), 1),
    ]);
    expect(dead.row).toMatchObject({ state: 'reverting', reason: 'user-cancelled' });
  });

  it('whose deduction stays unknown: rule E in its order, then a person', () => {
    const candidates = ['c-1', 'c-2'];
    const unknown = [1, 2, 3, 4, 5].flatMap((attempt): RedemptionEvent[] => {
      const requestId = aUuid(START_MS, 20 + attempt);
      const candidate = candidates[attempt - 1];
      const known = candidate === undefined ? {} : { candidateTransactionId: candidate };
      return [due(requestId), { type: 'deduct-unknown', requestId, reason: 'timeout', ...known }];
    });
    const notFound = [1, 2, 3, 4].flatMap((attempt): RedemptionEvent[] => {
      const requestId = aUuid(START_MS, 30 + attempt);
      return [due(requestId), { type: 'revert-not-found', requestId }];
    });
    // A partner without the capabilities that make "not found" a proof.
    const capabilities = PARTNER_CAPABILITIES.filter(
      (one) => one !== 'tombstones' && one !== 'enforces-freshness',
    );
    const { row, commands } = follow([...unknown, ...notFound], { capabilities, confirms: true });
    const named = commands.flatMap((command) =>
      command.kind === 'call-partner' && command.request.step === 'revert'
        ? [command.request.body.partnerTransactionId ?? 'by redemption id']
        : [],
    );
    // The first request is repeated once no deduct call can arrive any more.
    expect(named).toEqual(['by redemption id', 'by redemption id', 'c-1', 'c-2']);
    expect(row).toMatchObject({
      state: 'attention',
      resume: 'reverting',
      reason: 'deduction-unresolved',
    });
    expect(commands.filter(({ kind }) => kind === 'confirm')).toEqual([]);
    const proof = follow([...unknown, ...notFound.slice(0, 4)]);
    expect(proof.row).toMatchObject({
      state: 'failed',
      reason: 'never-deducted',
      exposure: 'none',
    });
  });

  it('whose partner named a transaction of another redemption: the redemption alone is asked for in turn', () => {
    const notFound = [1, 2, 3, 4].flatMap((attempt): RedemptionEvent[] => {
      const requestId = aUuid(START_MS, 30 + attempt);
      return [due(requestId), { type: 'revert-not-found', requestId }];
    });
    const cancelled: RedemptionEvent = { type: 'cancel', by: 'user' };
    const { row, commands } = follow([...DEDUCTED, cancelled, ...notFound]);
    const named = commands.flatMap((command) =>
      command.kind === 'call-partner' && command.request.step === 'revert'
        ? [command.request.body.partnerTransactionId ?? 'by redemption id']
        : [],
    );
    expect(named).toEqual(['tx-1', 'by redemption id', 'tx-1', 'by redemption id']);
    expect(row).toMatchObject({ state: 'reverting', partnerTransactionId: 'tx-1' });
    const found = follow([
      ...DEDUCTED,
      cancelled,
      ...notFound.slice(0, 2),
      due(SECOND),
      {
        type: 'revert-confirmed',
        requestId: SECOND,
        partnerTransactionId: 'tx-2',
        partnerRevertId: 'r',
      },
    ]);
    expect(found.row).toMatchObject({ state: 'reverted', partnerTransactionId: 'tx-1' });
    // Two "not found" answers prove nothing against a deduction that the partner has confirmed.
    const plain = follow([...DEDUCTED, cancelled, ...notFound], {
      capabilities: ['refuses-mismatched-pair'],
      confirms: true,
    });
    expect(plain.row).toMatchObject({ state: 'reverting', redemptionIdRefuted: false });
  });

  it('whose reverts never leave: none of them counts', () => {
    const unsent = [1, 2, 3, 4].flatMap((attempt): RedemptionEvent[] => {
      const requestId = aUuid(START_MS, 30 + attempt);
      return [due(requestId), { type: 'revert-not-sent', requestId }];
    });
    const { row } = follow([...DEDUCTED, { type: 'cancel', by: 'user' }, ...unsent]);
    expect(row).toMatchObject({ state: 'reverting', attempts: { revert: 0 }, openCall: null });
    // Waits of 5 s each, and one second for each event.
    expect(row.nextActionAtMs).toBeLessThan(START_MS + 40_000);
  });

  it.each(['deduct-refused', 'deduct-not-sent'] as const)(
    'in a restored ledger: after %s, a call that is forgotten may still have deducted',
    (type) => {
      const { row } = follow([due(FIRST)]);
      const lostVoucherUntilSeconds = START_MS / 1000 + 4000;
      const event = { ...EVENTS[type], requestId: FIRST };
      const decision = transition({ ...row, lostVoucherUntilSeconds }, event, aContext());
      expect(decision).toMatchObject({ next: { exposure: 'possible', unprovenAttempts: 0 } });
    },
  );

  it('with a partner that has no confirmation endpoint: none is recorded', () => {
    const { row, commands } = follow([...DEDUCTED, PLANNED, payoutEvent(ID, aClaim(), 1)], {
      capabilities: [],
      confirms: false,
    });
    expect(row.state).toBe('claimed');
    expect(commands.filter(({ kind }) => kind === 'confirm')).toEqual([]);
  });

  it('on which the chain contradicts itself: somebody hears of it, nothing moves', () => {
    const doubt = { kind: 'contradiction', text: 'two claims' } as const;
    const { row, alerts } = follow([
      ...DEDUCTED,
      PLANNED,
      payoutEvent(ID, { outcome: 'live', doubt }, 7000),
    ]);
    expect(row).toMatchObject({ state: 'authorised', nextActionAtMs: START_MS + 11_000 });
    expect(alerts).toEqual([{ severity: 'critical', code: 'contradiction' }]);
    const unconfirmed = { kind: 'unconfirmed', text: 'one endpoint' } as const;
    const quiet = follow([
      ...DEDUCTED,
      PLANNED,
      payoutEvent(ID, { outcome: 'live', doubt: unconfirmed }, 1),
    ]);
    expect(quiet.alerts).toEqual([]);
  });
});
