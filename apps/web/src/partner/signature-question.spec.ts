import { expect, it } from '@jest/globals';
import { lacksQuery, questionOf } from './signature-question.js';

const requestId = '0198f000-0000-7000-8000-000000000000';
const request = { method: 'GET', target: '/game/get-points-by-address?address=0x1', body: null };
const headers = { 'x-api-signature': 'abc' };
const answer = { status: 200, headers, body: '{}', bodyBytes: 2 };

it('an answer to a call of ours becomes a question to the debugger', () => {
  expect(questionOf({ request, answer, requestId })).toEqual({
    ...{ secretOf: 'callback', method: 'GET', path: request.target },
    ...{ requestId, body: '{}', signature: 'abc' },
  });
  const unsigned = questionOf({ request, answer: { ...answer, headers: {} }, requestId });
  expect(unsigned?.signature).toBe('');
  expect(questionOf({ request, answer: null, requestId })).toBeUndefined();
});

it('a path without its query is named, where there may have been one', () => {
  expect(lacksQuery({ path: '/api/staking/snapshots', requestId: '' })).toBe(true);
  expect(lacksQuery({ path: '/api/staking/snapshots?lastDays=7', requestId: '' })).toBe(false);
  expect(lacksQuery({ path: '/game/deduct', requestId })).toBe(false);
});
