import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { mintUuidV7 } from '#libs/domain';
import { callBody } from './calls.dto.js';

const BODY = '{"success":true}';

function isWhole(outcome: string, record: object): boolean | undefined {
  const call = {
    ...{ requestId: mintUuidV7(0, Buffer.alloc(10)), redemptionId: null, outcome },
    ...{ step: 'balance' as const, begunAt: new Date(0), endedAt: new Date(0) },
    record: { status: 200, method: 'GET', path: '/points', excerpt: '', answerBytes: 0, ...record },
  };
  return callBody(call).baseString?.isWhole;
}

function received(body: string, excerpt = body): object {
  const answerSha256 = createHash('sha256').update(body).digest('hex');
  return { excerpt, answerBytes: Buffer.byteLength(body), answerSha256 };
}

it.each<[boolean, string, string, object]>([
  [true, 'an answer that is kept', 'answer', received(BODY)],
  [true, 'an answer without a body', 'answer', {}],
  [false, 'an answer of which the beginning is kept', 'answer', received(BODY, '{"su…')],
  [false, 'an answer that was cut off', 'no-answer', received(BODY.slice(0, 5))],
  [false, 'an answer whose body was not read', 'no-answer', {}],
])('the signed bytes are whole (%s): %s', (expected, _, outcome, record) => {
  expect(isWhole(outcome, record)).toBe(expected);
});
