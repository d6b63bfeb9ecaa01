import { expect, it } from '@jest/globals';
import {
  AnswersDifferError,
  isTransient,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  OverloadedError,
  RangeTooLargeError,
  RateLimitedError,
  RpcRefusedError,
  RpcTimeoutError,
  StateUnavailableError,
  TransportError,
  UnreachableError,
} from './rpc.errors.js';
import { reactionTo } from './reactions.js';

const at = { endpoint: 'n' };
const refused = (rpcCode: number, sizeMayExplain = false): RpcRefusedError =>
  new RpcRefusedError('refused', { ...at, rpcCode, sizeMayExplain });

it.each([
  ['a reset', new TransportError('reset', at)],
  ['HTTP 503', new OverloadedError('HTTP 503', at)],
  ['a rate limit', new RateLimitedError('slow', at)],
  ['a timeout', new RpcTimeoutError('late', at)],
  ['a refused connection', new UnreachableError('refused', at)],
  ['a status on a range', refused(403, true)],
  ['a status', refused(402)],
  ['HTTP 400', refused(400)],
  ['an error without a meaning, on a range', refused(-32000, true)],
  ['an unknown method', refused(-32601)],
  ['no form of the protocol', new MalformedAnswerError('?', at)],
  ['a node behind', new NodeBehindError('behind', at)],
  ['answers that differ', new AnswersDifferError('differ', at)],
  ['logs left out', new LogsWithheldError(1n, at)],
  ['a range too large', new RangeTooLargeError('large', at)],
  ['state that is pruned', new StateUnavailableError('pruned', at)],
])('the rate counts %s as one that passes if its request is sent again', (_, error) => {
  expect(reactionTo(error).resend === 'while patient').toBe(isTransient(error));
});
