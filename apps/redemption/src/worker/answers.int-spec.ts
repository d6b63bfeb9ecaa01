/**
 * Which answer settles what: the real engine on a real ledger and chain, and a real partner that gives every answer of
 * the interface, signed, not signed, signed wrongly, and signed for another call. The same over every state and status,
 * without I/O: answer-table.spec.ts of the domain.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalJson, PARTNER_CAPABILITIES, PARTNER_ERROR_CODES } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import {
  CALLBACK_SECRET,
  type PartnerAnswer,
  type PartnerBehaviour,
  type PartnerCall,
  refusal,
} from '#libs/testing/partner';
import { EngineBench } from '../testing/engine-bench.support.js';

const PATHS = { deduct: '/deduct-points-by-address', revert: '/revert-deduct-points' } as const;
type Step = keyof typeof PATHS;
const ANSWERS = ['success', ...PARTNER_ERROR_CODES, 'named duplicate', 'ERR-OF-THE-PARTNER'];

/** The signature of a text that answers the call. */
const SIGNATURES = {
  signed: ({ signedHead }: PartnerCall, text: string) =>
    hmacSha256Hex(CALLBACK_SECRET, signedHead + text),
  'not signed': () => null,
  'under another secret': ({ signedHead }: PartnerCall, text: string) =>
    hmacSha256Hex('svcs_another-secret', signedHead + text),
  'for another call': ({ headers, signedHead }: PartnerCall, text: string) => {
    const other = signedHead.replace(String(headers['x-api-request']), anotherRequest);
    return hmacSha256Hex(CALLBACK_SECRET, other + text);
  },
} as const;
type Signing = keyof typeof SIGNATURES;
const SIGNINGS = Object.keys(SIGNATURES) as Signing[];

/** The id of a true call of ours. */
let anotherRequest = '';

let bench: EngineBench;
let honest: PartnerBehaviour;
beforeAll(async () => {
  bench = await EngineBench.start();
  await bench.setCallback(PARTNER_CAPABILITIES);
  honest = bench.partner.behave;
  await bench.redeem();
  await bench.engine.sweep();
  anotherRequest = String(bench.partner.calls.at(-1)?.headers['x-api-request']);
});
afterAll(async () => {
  await bench.stop();
});

function bodyOf(answer: string, { body }: PartnerCall): object {
  const partnerTransactionId = `ptx_of_${String(body['svcRedemptionId'])}`;
  const partnerRevertId = `prv_of_${String(body['svcRedemptionId'])}`;
  if (answer === 'success') return { success: true, partnerTransactionId, partnerRevertId };
  return answer === 'named duplicate'
    ? { ...refusal('ERR-DUPLICATE-REQUEST'), partnerTransactionId }
    : refusal(answer);
}

function answerTo(
  call: PartnerCall,
  given: { readonly answer: string; readonly status: number; readonly signing: Signing },
): PartnerAnswer {
  const { answer, status, signing } = given;
  const body = canonicalJson(bodyOf(answer, call));
  return { status, body, signature: SIGNATURES[signing](call, body) };
}

/** Written by hand: where a signed answer leads, if its status may carry it; every other one leads nowhere. */
const ENDS: Readonly<Record<Step, Readonly<Record<string, string>>>> = {
  deduct: {
    success: 'authorised',
    'named duplicate': 'authorised',
    'ERR-DUPLICATE-REQUEST': 'reverting',
    'ERR-INSUFFICIENT-POINTS': 'failed',
    'ERR-USER-NOT-FOUND': 'failed',
  },
  revert: {
    success: 'reverted',
    'ERR-ALREADY-REVERTED': 'reverted',
    'ERR-INVALID-AMOUNT': 'attention',
  },
};
const UNSETTLED: Readonly<Record<Step, string>> = { deduct: 'deducting', revert: 'reverting' };

function expectedEnd(step: Step, answer: string, status: number, signing: Signing): string {
  const counts = signing === 'signed' && (answer === 'success' ? status === 200 : status !== 500);
  return (counts ? ENDS[step][answer] : undefined) ?? UNSETTLED[step];
}

/** An answer that settles nothing with 200 does not need to be tried with 500. */
function statusesOf(step: Step, answer: string): number[] {
  return ENDS[step][answer] === undefined ? [200, 409] : [200, 409, 500];
}

/** A redemption that gets the answer at the step. A revert follows a duplicate that names no transaction. */
async function endOf(
  step: Step,
  given: { readonly answer: string; readonly status: number; readonly signing: Signing },
): Promise<string> {
  bench.partner.behave = (call) => {
    if (call.path === PATHS[step]) return answerTo(call, given);
    return step === 'revert' && call.path === PATHS.deduct
      ? { body: refusal('ERR-DUPLICATE-REQUEST') }
      : honest(call);
  };
  const id = await bench.redeem();
  await bench.engine.sweep();
  const { state, plan } = await bench.read(id);
  expect(plan === null).toBe(state !== 'authorised');
  const asked = bench.partner.calls.filter(
    ({ path, body }) => path === PATHS[step] && body['svcRedemptionId'] === id,
  );
  expect(asked).toHaveLength(1);
  return state;
}

describe.each(['deduct', 'revert'] as const)('every answer to a %s call', (step) => {
  it.each(SIGNINGS)('%s', async (signing) => {
    const ends: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const answer of ANSWERS) {
      for (const status of statusesOf(step, answer)) {
        const name = `${answer}, ${status}`;
        ends[name] = await endOf(step, { answer, status, signing });
        expected[name] = expectedEnd(step, answer, status, signing);
      }
    }
    expect(ends).toEqual(expected);
  });
});
