import { describe, expect, it } from '@jest/globals';
import { balanceEvent, callEvent, deductEvent, lostCallEvent, revertEvent } from './call-event.js';
import { type CallOutcome } from './partner-call.js';
import { type OpenCall } from './redemption.js';
import { aCall, aContext, aRedemption, CALL_ID, WALLET } from './testing/builders.js';
import { BY_REDEMPTION, ended, error, success } from './testing/fault-outcomes.js';
import { transition } from './transition.js';
import { judgeReply, reasonOf } from './partner-answer.js';

describe('ids that our books know', () => {
  it("another redemption's transaction id is never paid on, and never a candidate", () => {
    for (const fault of [
      success(),
      error('ERR-DUPLICATE-REQUEST', {}, { partnerTransactionId: 'tx-1' }),
    ]) {
      expect(ended('deduct', fault('deduct'), {}, { reused: 'transaction' })).toBe(
        'attention +alert',
      );
    }
  });

  it.each([
    ["another redemption's transaction id", 'transaction'],
    ["another revert's id", 'revert'],
  ] as const)('%s does not confirm a revert', (_name, reused) => {
    const change = { partnerTransactionId: null, openCall: BY_REDEMPTION };
    expect(ended('revert', success()('revert'), change, { reused })).toBe('retry');
    expect(ended('revert', success()('revert'), change)).toBe('reverted');
  });

  it("another redemption's transaction id makes a revert unknown, with its reason", () => {
    const outcome = success()('revert') as CallOutcome<'revert'>;
    expect(revertEvent(BY_REDEMPTION, outcome, 'transaction')).toEqual({
      ...{ type: 'revert-unknown', requestId: CALL_ID, reason: 'invalid-transaction-id' },
    });
  });

  it('a call of which nothing was sent is told as such, by step', () => {
    const outcome = { kind: 'nothing-sent', reason: 'held-back', retryAfterSeconds: 7 } as const;
    const told = { requestId: CALL_ID, retryAfterSeconds: 7 };
    expect(callEvent(aCall('deduct'), outcome)).toEqual({ type: 'deduct-not-sent', ...told });
    expect(callEvent(aCall('revert'), outcome)).toEqual({ type: 'revert-not-sent', ...told });
    expect(balanceEvent(aRedemption('created'), outcome)).toEqual({
      ...{ type: 'balance-unknown', retryAfterSeconds: 7 },
    });
  });

  it.each<[string, OpenCall]>([
    ['deduct', aCall('deduct')],
    ['revert', aCall('revert')],
  ])('a %s call that our crash cut off is unknown', (step, call) => {
    expect(lostCallEvent(call)).toEqual({
      type: `${step}-unknown`,
      requestId: CALL_ID,
      reason: 'crash',
    });
  });

  it('candidates are kept once each, five at most, and never for a payment', () => {
    let redemption = aRedemption('deducting');
    for (const id of ['a', 'a', 'b', 'c', 'd', 'e', 'f']) {
      const forged = success({ signature: 'wrong' }, { partnerTransactionId: id })('deduct');
      const call = aCall('deduct');
      const event = deductEvent(call, forged as CallOutcome<'deduct'>);
      const decision = transition({ ...redemption, openCall: call }, event, aContext());
      if (decision.kind === 'moved') redemption = decision.next;
    }
    expect(redemption).toMatchObject({
      state: 'deducting',
      partnerTransactionId: null,
      candidateTransactionIds: ['a', 'b', 'c', 'd', 'e'],
    });
  });
});

const BALANCE = {
  success: true,
  partnerUserId: 'u-1',
  address: WALLET.toUpperCase().replace('0X', '0x'),
  points: 0,
  chain: 'ronin',
};

describe('judgeReply', () => {
  const reply = {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    signature: 'valid',
  } as const;

  it('takes a balance that repeats the address in any case, and no other', () => {
    const call = { step: 'balance', address: WALLET } as const;
    expect(judgeReply(call, { ...reply, json: { value: BALANCE } })).toEqual({
      kind: 'succeeded',
      answer: { partnerUserId: 'u-1', address: WALLET, points: 0n, chain: 'ronin' },
    });
    const value = { ...BALANCE, address: `0x${'b'.repeat(40)}` };
    expect(judgeReply(call, { ...reply, json: { value } })).toEqual({
      kind: 'unknown',
      reason: 'invalid-answer',
    });
  });

  it('takes a confirmation without fields', () => {
    const call = { step: 'confirm', address: WALLET } as const;
    expect(judgeReply(call, { ...reply, json: { value: { success: true } } })).toEqual({
      ...{ kind: 'succeeded', answer: {} },
    });
  });

  it('says why a refusal settles nothing', () => {
    const call = { step: 'deduct', address: WALLET } as const;
    const value = { success: false, errorCode: 'ERR-NEW', errorMessage: 'x' };
    expect(judgeReply(call, { ...reply, json: { value } })).toMatchObject({
      reason: 'unknown-code',
    });
    expect(reasonOf('ERR-AUTH-FAILED')).toBe('auth-failed');
    expect(reasonOf('ERR-INTERNAL')).toBe('error-internal');
    expect(reasonOf('ERR-ALREADY-REVERTED')).toBe('unknown-code');
  });

  it('keeps a well-formed id and Retry-After of an answer that it does not believe', () => {
    const call = { step: 'deduct', address: WALLET } as const;
    const json = { value: { success: true, partnerTransactionId: 't' } };
    const doubtful = { ...reply, signature: 'wrong', retryAfterSeconds: 7, json } as const;
    expect(judgeReply(call, doubtful)).toEqual({
      kind: 'unknown',
      reason: 'signature-wrong',
      retryAfterSeconds: 7,
      candidateTransactionId: 't',
    });
    expect(judgeReply({ ...call, step: 'revert' }, doubtful)).not.toHaveProperty(
      'candidateTransactionId',
    );
  });
});
