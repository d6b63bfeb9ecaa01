import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '#libs/domain';
import {
  type Answer,
  aPlayer,
  aRedemptionId,
  call,
  expectRefused,
  type Partner,
  pointsOf,
  sendRaw,
  startPartner,
} from '../testing/partner-harness.support.js';

const PATHS = ['/deduct-points-by-address', '/revert-deduct-points', '/confirm-redemption'];
const DEDUCT = '/deduct-points-by-address';

let partner: Partner;
let address: Address;
beforeAll(async () => {
  partner = await startPartner();
  address = await aPlayer(partner, 1000);
});
afterAll(async () => {
  expect(await pointsOf(partner, address)).toBe(1000);
  expect(partner.logs.filter((line) => line.includes('A call failed'))).toEqual([]);
  await partner.stop();
});

/** A body with this text in the place of the value of deductPoints. */
const withPoints = (text: string): string =>
  `{"address":"${address}","deductPoints":${text},"svcRedemptionId":"${aRedemptionId()}"}`;

function expectFault(answer: Answer, message: string | RegExp): void {
  expectRefused(answer, 'ERR-INTERNAL');
  expect(answer.body['errorMessage']).toMatch(message);
}

describe('a body that is not as the interface says', () => {
  it.each([
    ['"5"'],
    ['null'],
    ['true'],
    ['[]'],
    ['[5]'],
    ['{}'],
    ['0'],
    ['-0'],
    ['-1'],
    ['1.5'],
    ['1e-3'],
    ['1e999'],
    ['9007199254740992'],
    ['9007199254740993'],
    ['""'],
    ['{"valueOf":5}'],
  ])('deductPoints of %s is refused by name', async (text) => {
    expectFault(
      await call(partner, DEDUCT, withPoints(text)),
      /deductPoints must be a whole number/,
    );
  });

  it.each([['1e3'], ['1000.0'], ['10E2'], ['1000.000']])(
    'deductPoints of %s is the number 1000 in another form',
    async (text) => {
      const wallet = await aPlayer(partner, 999);
      const body = withPoints(text).replace(address, wallet);
      expectRefused(await call(partner, DEDUCT, body), 'ERR-INSUFFICIENT-POINTS');
    },
  );

  it.each([
    ['NaN'],
    ['Infinity'],
    ['0x10'],
    ['+5'],
    ['05'],
    ['5_000'],
    ['.5'],
    ['5n'],
    ['undefined'],
  ])('deductPoints of %s is not JSON', async (text) => {
    expectFault(await call(partner, DEDUCT, withPoints(text)), 'The body is not JSON in UTF-8.');
  });

  it.each([
    ['number', 5],
    ['null', null],
    ['empty', ''],
    ['short', '0x12'],
    ['list', []],
    ['object', {}],
    ['with a blank', ` 0x${'0'.repeat(40)}`],
    ['with NUL', `0x${'0'.repeat(40)}\0`],
  ])('address and svcRedemptionId: %s', async (_, wrong) => {
    const answer = await call(partner, DEDUCT, {
      address: wrong,
      deductPoints: 1,
      svcRedemptionId: wrong,
    });
    expectFault(answer, /address must be .*; svcRedemptionId must be a UUID/);
  });

  it.each([
    ['partnerTransactionId', null],
    ['partnerTransactionId', ''],
    ['partnerTransactionId', 5],
    ['partnerTransactionId', 'x'.repeat(256)],
    ['partnerTransactionId', 'a\0b'],
    ['revertReason', null],
    ['revertReason', 'x'.repeat(1001)],
    ['revertReason', '\0'],
    ['revertReason', ['a']],
  ])('a revert with %s of %j', async (field, value) => {
    const body = { address, deductPoints: 1, svcRedemptionId: aRedemptionId(), [field]: value };
    expectFault(
      await call(partner, '/revert-deduct-points', body),
      new RegExp(`${field} must be a text`),
    );
  });

  it('half of a surrogate pair is refused', async () => {
    const id = aRedemptionId();
    const body = `{"address":"${address}","deductPoints":1,"revertReason":"\\ud800","svcRedemptionId":"${id}"}`;
    expectFault(await call(partner, '/revert-deduct-points', body), 'revertReason must be a text');
  });

  it.each(PATHS)('all missing fields are named at %s', async (path) => {
    const answer = await call(partner, path, {});
    expectFault(answer, 'address is missing; deductPoints is missing; svcRedemptionId is missing');
  });

  it.each([
    ['empty', ''],
    ['blank', ' '],
    ['half', '{"address":'],
    ['text behind it', '{}x'],
    ['two', '{}{}'],
    ['single quotes', `{'a':1}`],
    ['a comma too many', '{"a":1,}'],
    ['a comment', '{}//'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['open brackets', '['.repeat(60_000)],
  ])('not JSON: %s', async (_, body) => {
    for (const path of PATHS) {
      expectFault(await call(partner, path, body), 'The body is not JSON in UTF-8.');
    }
  });

  it.each([
    ['null'],
    ['[]'],
    ['5'],
    ['"x"'],
    ['true'],
    [`${'['.repeat(30_000)}${']'.repeat(30_000)}`],
  ])('JSON but no object: %.20s', async (body) => {
    for (const path of PATHS) {
      expectFault(
        await call(partner, path, body),
        'The body is not usable: it must be a JSON object',
      );
    }
  });

  it('a field that is given twice is refused, also where it is written in another way or deep inside', async () => {
    const twice = (text: string): string => withPoints('1').replace('{', `{${text},`);
    for (const [text, name] of [
      ['"deductPoints":1', 'deductPoints'],
      ['"\\u0061ddress":"x"', 'address'],
      ['"more":{"list":[{"a":1},{"a":1,"a":2}]}', 'a'],
      ['"\\ud800":1,"\\ud800":2', 'a field'],
    ] as const) {
      const answer = await call(partner, DEDUCT, twice(text));
      expectFault(answer, `The body is not usable: ${name} must be given once`);
    }
  });

  it('a field that is given twice has no canonical form that a signature could be for', async () => {
    const body = withPoints('1').replace('{', '{"deductPoints":5,');
    const signed = JSON.stringify(JSON.parse(body));
    expectRefused(await call(partner, DEDUCT, body, { signed }), 'ERR-AUTH-FAILED');
  });

  it('names of prototypes are fields like any other: nothing is polluted, nothing inherited', async () => {
    const given = `{"__proto__":{"address":"${address}","deductPoints":1},"constructor":{"prototype":{"x":1}},"svcRedemptionId":"${aRedemptionId()}"}`;
    const answer = await call(partner, DEDUCT, given);
    expectFault(answer, 'address is missing; deductPoints is missing');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('fields that are not known are ignored: the interface may grow', async () => {
    const wallet = await aPlayer(partner, 5);
    const body = {
      address: wallet,
      deductPoints: 5,
      svcRedemptionId: aRedemptionId(),
      more: { a: [1] },
    };
    expect((await call(partner, DEDUCT, body)).body['success']).toBe(true);
  });

  it('a huge body is refused before it is read', async () => {
    const body = JSON.stringify({ more: 'x'.repeat(70_000) });
    expectFault(await call(partner, DEDUCT, body), 'The body is too large.');
    // Without a length, the connection is cut where the limit is passed.
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const answer = await sendRaw(partner.port, { method: 'POST', path: DEDUCT, headers, body });
    expectFault(answer, 'The body is too large.');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'nonsense', 'application/json5'])(
    'Content-Type %s is refused',
    async (type) => {
      const answer = await call(partner, DEDUCT, withPoints('1'), {
        headers: { 'content-type': type },
      });
      expectFault(answer, 'Content-Type must be application/json.');
    },
  );

  it('whatever JSON is sent, the answer is a signed envelope and nothing fails inside', async () => {
    const junk = fc.oneof(
      fc.json({ noUnicodeString: false }),
      fc
        .record(
          {
            address: fc.oneof(fc.constant(address), fc.jsonValue()),
            deductPoints: fc.oneof(fc.double(), fc.integer(), fc.jsonValue()),
            svcRedemptionId: fc.oneof(fc.uuid(), fc.jsonValue()),
            partnerTransactionId: fc.jsonValue({ noUnicodeString: false }),
            revertReason: fc.string({ unit: 'binary' }),
            status: fc.constantFrom('claimed', 'reverted', 'failed'),
            claimedAt: fc.option(fc.string()),
          },
          { requiredKeys: [] },
        )
        .map((value) =>
          JSON.stringify({ ...value, ...(value.deductPoints === 1 && { deductPoints: 0 }) }),
        ),
      fc.string({ unit: 'binary' }),
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
    );
    const paths = fc.constantFrom('/revert-deduct-points', '/confirm-redemption');
    await fc.assert(
      fc.asyncProperty(paths, junk, async (path, body) => {
        const answer = await call(partner, path, body);
        expect(answer.status).toBe(200);
        expect(answer.body['success']).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});
