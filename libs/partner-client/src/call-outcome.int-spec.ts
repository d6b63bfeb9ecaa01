/** The fault table's rows for a deduction, from the partner's bytes to the domain's outcome, over real sockets. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallOutcome } from '#libs/domain';
import { callOutcome } from './call-outcome.js';
import { type CallContext } from './partner-client.js';
import {
  aClient,
  anEndpoint,
  DEDUCT,
  endpointOf,
  SHORT,
  WALLET,
} from './testing/partner-bench.support.js';
import {
  answer,
  type Behaviour,
  replies,
  RoguePartner,
  UNSIGNED,
} from './testing/rogue-partner.support.js';

const INSUFFICIENT = '{"errorCode":"ERR-INSUFFICIENT-POINTS","errorMessage":"","success":false}';

describe('the outcome of a deduction', () => {
  let partner: RoguePartner;

  beforeEach(async () => {
    partner = await RoguePartner.start();
  });

  afterEach(async () => {
    await partner.close();
  });

  const outcome = async (
    endpoint = endpointOf(partner),
    context: CallContext = {},
    client = aClient(),
  ): Promise<CallOutcome<'deduct'>> => {
    const result = await client.call(endpoint, DEDUCT, context);
    return callOutcome({ step: 'deduct', address: WALLET }, result);
  };

  it.each<[string, Behaviour, CallOutcome<'deduct'>]>([
    [
      'a verified success',
      replies({}),
      { kind: 'succeeded', answer: { partnerTransactionId: 'ptx-1' } },
    ],
    [
      'a signed refusal with 200',
      replies({ body: INSUFFICIENT }),
      { kind: 'refused', code: 'ERR-INSUFFICIENT-POINTS' },
    ],
    [
      'an unsigned refusal with 422',
      replies({ status: 422, body: INSUFFICIENT, headers: UNSIGNED }),
      { kind: 'unknown', reason: 'signature-missing' },
    ],
    [
      'a success without a signature',
      replies({ headers: UNSIGNED }),
      { kind: 'unknown', reason: 'signature-missing', candidateTransactionId: 'ptx-1' },
    ],
    [
      'a success under a wrong signature',
      replies({ headers: { 'x-api-signature': '0'.repeat(64) } }),
      { kind: 'unknown', reason: 'signature-wrong', candidateTransactionId: 'ptx-1' },
    ],
    [
      'a page in HTML',
      replies({ body: '<p>', headers: { 'content-type': 'text/html' } }),
      { kind: 'unknown', reason: 'malformed-json' },
    ],
    [
      'a compressed answer',
      replies({ headers: { 'content-encoding': 'gzip' } }),
      { kind: 'unknown', reason: 'malformed-json' },
    ],
    [
      '503 with Retry-After',
      replies({ status: 503, body: '', headers: { ...UNSIGNED, 'retry-after': '9' } }),
      { kind: 'unknown', reason: 'server-error', retryAfterSeconds: 9 },
    ],
    [
      'a redirect',
      (socket) => socket.end('HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n'),
      { kind: 'unknown', reason: 'redirect' },
    ],
    ['silence', () => undefined, { kind: 'unknown', reason: 'timeout' }],
    ['a reset', (socket) => socket.resetAndDestroy(), { kind: 'unknown', reason: 'reset' }],
    [
      'half an answer',
      (socket, request) => socket.end(answer(request).subarray(0, -1)),
      { kind: 'unknown', reason: 'half-answer' },
    ],
    [
      'something else than HTTP',
      (socket) => socket.end('220 smtp\r\n'),
      { kind: 'unknown', reason: 'no-envelope' },
    ],
  ])('after %s', async (_case, behave, expected) => {
    partner.behave = behave;
    const isLate = expected.kind === 'unknown' && expected.reason === 'timeout';
    const client = aClient(isLate ? { timeouts: SHORT } : {});
    expect(await outcome(undefined, undefined, client)).toEqual(expected);
  });

  it.each([
    ['https://no-such-host.invalid', 'dns'],
    ['https://169.254.169.254', 'blocked-address'],
    ['nonsense', 'blocked-address'],
  ])('where nothing was sent to %s', async (baseUrl, reason) => {
    expect(await outcome(anEndpoint({ baseUrl }))).toEqual({ kind: 'nothing-sent', reason });
  });

  it('where the caller ended the call before, and after, it was sent', async () => {
    const held = await outcome(endpointOf(partner), { signal: AbortSignal.abort() });
    expect(held).toEqual({ kind: 'nothing-sent', reason: 'held-back' });
    const abort = new AbortController();
    partner.behave = () => {
      abort.abort();
    };
    const ended = await outcome(endpointOf(partner), { signal: abort.signal });
    expect(ended).toEqual({ kind: 'unknown', reason: 'crash' });
  });
});
