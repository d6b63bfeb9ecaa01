import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, newRequestId } from '../index.js';
import {
  aGame,
  ask,
  DEDUCTION,
  expectRefused,
  makeCall,
  NOON_MS,
  WALLET,
} from '../testing/caller.support.js';

const DEDUCT = '/deduct-points-by-address';

describe('what is sent', () => {
  const withPoints = (text: string): string =>
    JSON.stringify(DEDUCTION).replace('"deductPoints":1500', `"deductPoints":${text}`);

  it.each([
    '"5"',
    'null',
    'true',
    '[5]',
    '{}',
    '0',
    '-0',
    '-1',
    '1.5',
    '1e999',
    '9007199254740992',
  ])('deductPoints of %s is refused by name', async (text) => {
    const answer = await ask(aGame(), makeCall(DEDUCT, withPoints(text)));
    expectRefused(answer, 'ERR-INTERNAL', /deductPoints must be a whole number/);
  });

  it.each(['NaN', '0x10', '+5', '05', '5_000', '.5', '5n'])(
    'deductPoints of %s is not JSON',
    async (text) => {
      const answer = await ask(aGame(), makeCall(DEDUCT, withPoints(text)));
      expectRefused(answer, 'ERR-INTERNAL', 'The body is not JSON in UTF-8.');
    },
  );

  it('all faults are named, prototypes lend nothing, unknown fields are let be', async () => {
    const body = `{"__proto__":{"address":"${WALLET}","deductPoints":1},"svcRedemptionId":7,"more":[]}`;
    expectRefused(
      await ask(aGame(), makeCall(DEDUCT, body)),
      'ERR-INTERNAL',
      /usable: address is missing; deductPoints is missing; svcRedemptionId must be a UUID$/,
    );
    const more = { ...DEDUCTION, more: { a: [1] } };
    expect((await ask(aGame(), makeCall(DEDUCT, more))).body['success']).toBe(true);
  });

  it('whatever is sent, the answer is a signed envelope and nothing fails inside', async () => {
    const game = aGame();
    const junk = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
      fc
        .record(
          {
            address: fc.oneof(fc.constant(WALLET), fc.jsonValue()),
            deductPoints: fc.oneof(fc.double(), fc.jsonValue()),
            svcRedemptionId: fc.oneof(fc.uuid(), fc.jsonValue()),
            partnerTransactionId: fc.jsonValue(),
            revertReason: fc.string({ unit: 'binary' }),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
    );
    const paths = fc.constantFrom(DEDUCT, '/revert-deduct-points', '/confirm-redemption', '/x');
    await fc.assert(
      fc.asyncProperty(paths, junk, fc.string({ unit: 'binary' }), async (url, body, id) => {
        for (const requestId of [newRequestId(NOON_MS), id]) {
          const answer = await ask(game, makeCall(url, body, { requestId }));
          expect(answer.isSigned).toBe(true);
          expect(answer.text).toBe(canonicalJson(answer.body));
        }
      }),
    );
    expect(game.errors).toEqual([]);
  });
});
