/** Each fault does what its name says: to the real client, in the judgement of the real domain, and in the books. */
import { aPartnerId } from '#libs/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address, type CallOutcome } from '#libs/domain';
import { callOutcome, newRequestId, PartnerClient, PartnerEndpoint } from '#libs/partner-client';
import { systemClock } from '#libs/platform';
import { Dice } from '../world/dice.js';
import { ChaosPartner } from './chaos-partner.js';
import { ChaosServer } from './chaos-server.js';
import { type FaultName, FAULTS } from './wire-faults.js';

const WALLET = `0x${'a1'.repeat(20)}` as Address;

/** What the service learns, and whether the points were taken. */
const DEDUCT: readonly [FaultName, string, 'taken' | 'untouched'][] = [
  ['lost', 'timeout', 'untouched'],
  ['late', 'timeout', 'untouched'],
  ['reset-at-once', 'reset', 'untouched'],
  ['hung-up', 'reset', 'untouched'],
  ['bad-gateway', 'server-error', 'untouched'],
  ['rate-limited', 'rate-limited', 'untouched'],
  ['redirected', 'redirect', 'untouched'],
  ['no-envelope', 'no-envelope', 'untouched'],
  ['auth-failed', 'ERR-AUTH-FAILED', 'untouched'],
  ['internal-before', 'error-internal|server-error', 'untouched'],
  ['unknown-code', 'unknown-code', 'untouched'],
  ['wrong-step', 'ERR-REDEMPTION-NOT-FOUND', 'untouched'],
  ['not-http', 'no-envelope|reset', 'untouched'],
  ['success-from-nowhere', 'signature-missing', 'untouched'],
  ['answer-lost', 'timeout', 'taken'],
  ['answer-reset', 'reset', 'taken'],
  ['half-answer', 'half-answer', 'taken'],
  ['slow-answer', 'too-slow|timeout', 'taken'],
  ['too-large', 'too-large', 'taken'],
  ['unsigned', 'signature-missing', 'taken'],
  ['forged', 'signature-wrong', 'taken'],
  ['signed-something-else', 'signature-wrong', 'taken'],
  ['not-json', 'malformed-json', 'taken'],
  ['success-no-boolean', 'success-not-boolean', 'taken'],
  ['bad-id', 'invalid-transaction-id', 'taken'],
  ['server-error-after', 'server-error', 'taken'],
  ['internal-after', 'error-internal', 'taken'],
  ['copied', 'succeeded', 'taken'],
  ['refusal-invented', 'signature-missing', 'taken'],
  ['refusal-invented-call-dropped', 'signature-missing', 'untouched'],
  ['refusal-invented-call-held', 'signature-missing', 'untouched'],
  ['answers-swapped', 'signature-missing', 'taken'],
  ['answer-replayed', 'signature-missing', 'untouched'],
  ['refuses-to-deduct', 'ERR-INSUFFICIENT-POINTS|ERR-USER-NOT-FOUND', 'untouched'],
  ['duplicate-of-nothing', 'ERR-DUPLICATE-REQUEST', 'untouched'],
];

const COPIED: readonly FaultName[] = ['late', 'copied', 'refusal-invented-call-held'];

function word(outcome: CallOutcome<'deduct'>): string {
  if (outcome.kind === 'refused') return outcome.code;
  return outcome.kind === 'succeeded' ? outcome.kind : outcome.reason;
}

describe('a deduction', () => {
  let server: ChaosServer;
  const client = new PartnerClient({
    clock: systemClock,
    policy: { allowPrivate: true },
    timeouts: { connectMs: 500, readMs: 300, writeMs: 300 },
  });

  beforeAll(async () => {
    server = await ChaosServer.start();
  });

  afterAll(() => server.stop());

  it.each(DEDUCT)(
    'that meets "%s" comes to %s, the points are %s',
    async (fault, expected, then) => {
      let copies = 0;
      const partner = new ChaosPartner(fault, {
        nature: {
          does: [],
          balanceFirst: false,
          namesDuplicates: false,
          signsRefusals: true,
          clockAheadMs: 0,
        },
        recorded: [],
        confirms: true,
        temper: { faultRate: 1, faultsUntilHealed: 1, deaf: false },
        firstFaults: { deduct: fault, revert: 'lost', confirm: 'lost' },
        dice: new Dice(fault),
        around: {
          nowMs: () => systemClock.nowMs(),
          later: () => copies++,
          stalled: (socket) => {
            server.stall(socket);
          },
          arrived: () => undefined,
        },
      });
      partner.books.points.set(WALLET, 900);
      server.add(partner);
      const endpoint = new PartnerEndpoint({
        partnerId: aPartnerId(),
        baseUrl: server.urlOf(partner),
        apiKey: partner.apiKey,
        sharedSecret: partner.secret,
      });
      const svcRedemptionId = newRequestId(systemClock);
      const body = { address: WALLET, deductPoints: 500, svcRedemptionId };
      const result = await client.call(endpoint, { step: 'deduct', body });
      const outcome = callOutcome({ step: 'deduct', address: WALLET }, result);
      expect(expected.split('|')).toContain(word(outcome));
      expect(partner.books.points.get(WALLET)).toBe(then === 'taken' ? 400 : 900);
      expect(copies).toBe(COPIED.includes(fault) ? 1 : 0);
      expect(partner.oddities).toEqual([]);
    },
  );

  it('meets every fault there is, but one that needs an earlier redemption', () => {
    const tried = DEDUCT.map(([fault]) => fault);
    expect([...new Set(FAULTS.deduct)].filter((fault) => !tried.includes(fault))).toEqual([
      'reused-transaction-id',
    ]);
  });
});
