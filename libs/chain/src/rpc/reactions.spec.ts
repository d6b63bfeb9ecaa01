import { describe, expect, it } from '@jest/globals';
import {
  AnswersDifferError,
  EndpointLeftOutError,
  isTransient,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  OverloadedError,
  RangeTooLargeError,
  RateLimitedError,
  type RpcError,
  RpcRefusedError,
  RpcTimeoutError,
  StateUnavailableError,
  TransportError,
  UnreachableError,
} from '../errors/rpc.errors.js';
import { reactionTo } from './reactions.js';

const at = { endpoint: 'n' };
const refused = (rpcCode: number, sizeMayExplain = false): RpcRefusedError =>
  new RpcRefusedError('refused', { ...at, rpcCode, sizeMayExplain });

const CASES: readonly (readonly [string, RpcError, string])[] = [
  ['a reset', new TransportError('reset', at), 'while patient, broken'],
  ['HTTP 503', new OverloadedError('HTTP 503', at), 'while patient'],
  ['a rate limit', new RateLimitedError('slow', at), 'while patient'],
  ['a timeout', new RpcTimeoutError('late', at), 'while patient, leaves, broken'],
  ['a refused connection', new UnreachableError('refused', at), 'while patient, leaves'],
  ['a status on a range', refused(403, true), 'while patient, leaves'],
  ['a status', refused(402), 'once, leaves'],
  ['HTTP 400', refused(400), 'never'],
  ['an error without a meaning, on a range', refused(-32000, true), 'while patient'],
  ['an unknown method', refused(-32601), 'never'],
  ['no form of the protocol', new MalformedAnswerError('?', at), 'while patient, reask, aside'],
  ['a node behind', new NodeBehindError('behind', at), 'never, reask, aside'],
  ['answers that differ', new AnswersDifferError('differ', at), 'never, reask, aside'],
  ['logs left out', new LogsWithheldError(1n, at), 'never, aside if there is another'],
  ['an endpoint left out', new EndpointLeftOutError('m', refused(1)), 'never'],
  ['a range too large', new RangeTooLargeError('large', at), 'never'],
  ['state that is pruned', new StateUnavailableError('pruned', at), 'never'],
];

describe('what a question does after', () => {
  it.each(CASES)('%s', (_, error, expected) => {
    const { resend, leaves, reask, isBroken, setsAside } = reactionTo(error);
    const aside = setsAside === 'always' ? ['aside'] : [`aside ${setsAside}`];
    const said = [
      resend,
      ...(leaves ? ['leaves'] : []),
      ...(reask ? ['reask'] : []),
      ...(isBroken ? ['broken'] : []),
      ...(setsAside === 'never' ? [] : aside),
    ];
    expect(said.join(', ')).toBe(expected);
  });

  it.each(CASES.filter(([, error]) => !(error instanceof EndpointLeftOutError)))(
    '%s, which the rate counts as one that passes if its request is sent again',
    (_, error) => {
      expect(reactionTo(error).resend === 'while patient').toBe(isTransient(error));
    },
  );
});
