import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  explainSignature,
  explainSignatureInTurns,
  type SignatureQuestion,
} from './explain-signature.js';
import { HashBudget } from './hash-budget.js';

const SECRET = 'svcs_0123456789abcdefghijABCDEFGHIJ';
const BODY = '{"address":"0xab","deductPoints":5}';
const CALL: SignatureQuestion = {
  secret: SECRET,
  method: 'POST',
  path: '/game/v1/deduct-points-by-address',
  requestId: '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d',
  body: BODY,
};
const RIGHT = `POST${CALL.path}${CALL.requestId ?? ''}${BODY}`;

function hmac(content: string, key: string | Buffer = SECRET, algorithm = 'sha256') {
  return createHmac(algorithm, key).update(content);
}

const hex = (...of: Parameters<typeof hmac>): string => hmac(...of).digest('hex');

describe('explainSignature', () => {
  it('shows what is signed, and the signature', () => {
    expect(explainSignature(CALL)).toEqual({
      content: RIGHT,
      signature: hex(RIGHT),
      mistakes: [],
    });
  });

  it('cuts a URL to its path', () => {
    const path = `https://game.example${CALL.path}?x=1`;
    expect(explainSignature({ ...CALL, path }).content).toBe(RIGHT);
  });

  it('says that the right one matches', () => {
    const given = hex(RIGHT);
    expect(explainSignature({ ...CALL, given })).toMatchObject({ matches: true, mistakes: [] });
  });

  const short = CALL.path.replace('/game', '');
  it.each<[string, string, string]>([
    ['upper-case hex', hex(RIGHT).toUpperCase(), 'upper-case hex'],
    ['base64', hmac(RIGHT).digest('base64'), 'in base64;'],
    ['blanks around it', ` ${hex(RIGHT)}`, 'white space around'],
    ['SHA-1', hex(RIGHT, SECRET, 'sha1'), 'HMAC-SHA1'],
    [
      'a plain hash',
      createHash('sha256')
        .update(SECRET + RIGHT)
        .digest('hex'),
      'plain SHA-256',
    ],
    ['a secret with its line break', hex(RIGHT, `${SECRET}\n`), 'line break'],
    ['a decoded secret', hex(RIGHT, Buffer.from(SECRET, 'base64')), 'decoded as base64'],
    ['no secret', hex(RIGHT, ''), 'not read at all'],
    ['no request id', hex(`POST${CALL.path}${BODY}`), 'X-API-REQUEST is left out'],
    ['separators', hex(['POST', CALL.path, CALL.requestId, BODY].join('\n')), 'joined with "\\n"'],
    ['a stripped prefix', hex(RIGHT.replace(CALL.path, short)), 'its first part'],
    [
      'a body that Python printed',
      hex(RIGHT.replace(BODY, '{"address": "0xab", "deductPoints": 5}')),
      'spaces after colons',
    ],
    [
      'a pretty body',
      hmac(RIGHT.replace(BODY, JSON.stringify(JSON.parse(BODY), undefined, 2))).digest('hex'),
      'other spacing',
    ],
    ['whole numbers that were floats', hex(RIGHT.replace('5}', '5.0}')), 'signed as 340.0'],
    [
      'another order of the keys',
      hex(RIGHT.replace(BODY, '{"deductPoints":5,"address":"0xab"}')),
      'in another order',
    ],
    [
      'another order of the keys, with spaces',
      hex(RIGHT.replace(BODY, '{"deductPoints": 5, "address": "0xab"}')),
      'in another order',
    ],
    ['no body', hex(RIGHT.replace(BODY, '')), 'body is left out'],
  ])('names the mistake of %s', (_case, given, mistake) => {
    const { matches, mistakes } = explainSignature({ ...CALL, given });
    expect([matches, mistakes]).toEqual([false, [expect.stringContaining(mistake)]]);
  });

  it.each(['\n', '\r\n'])('names %j sent after the body that is signed', (end) => {
    const given = hex(RIGHT);
    expect(explainSignature({ ...CALL, body: BODY + end, given }).mistakes).toEqual([
      'The body is sent with a line break at its end that is not signed.',
    ]);
  });

  it('names the query string', () => {
    const path = '/get-points-by-address?address=0xab';
    const given = hex(`GET${path}`);
    expect(
      explainSignature({ secret: SECRET, method: 'GET', path, body: '', given }),
    ).toMatchObject({ mistakes: ['The query string is signed; only the path is.'] });
  });

  it.each([
    ['https://game.example/svc/x', 'Scheme and host'],
    ['https://game.example/svc/x?a=1', 'The whole URL'],
  ])('names %s, signed as it is', (path, says) => {
    const given = hex(`GET${path}`);
    const { mistakes } = explainSignature({ secret: SECRET, method: 'GET', path, body: '', given });
    expect(mistakes).toEqual([expect.stringContaining(says)]);
  });

  it('names a body that is sent with spaces and signed without', () => {
    const body = '{"success": true, "data": {"points": 5}}';
    const given = hex('POST/x{"success":true,"data":{"points":5}}');
    expect(
      explainSignature({ secret: SECRET, method: 'POST', path: '/x', body, given }).mistakes,
    ).toEqual([expect.stringContaining('without spaces')]);
  });

  it('names a body that is not canonical where the canonical one was signed', () => {
    const body = '{"b":1,"a":2}';
    const given = hex(`POST/x{"a":2,"b":1}`);
    expect(
      explainSignature({ secret: SECRET, method: 'POST', path: '/x', body, given }).mistakes,
    ).toEqual([expect.stringContaining('canonical form')]);
  });

  it('names two mistakes at once', () => {
    const given = hmac(`POST${CALL.path}${BODY}`, `${SECRET}\n`).digest('base64');
    expect(explainSignature({ ...CALL, given }).mistakes).toEqual([]);
    const two = hmac(`POST${CALL.path}${BODY}`).digest('base64');
    expect(explainSignature({ ...CALL, given: two }).mistakes).toEqual([
      expect.stringContaining('base64'),
      expect.stringContaining('X-API-REQUEST'),
    ]);
  });

  it('never throws, and blames nothing for a signature of another secret', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.string(),
        fc.string(),
        (method, path, body, other) => {
          const given = hex(`${method}${path}${body}`, `other ${other}`);
          const found = explainSignature({ secret: SECRET, method, path, body, given });
          expect([found.matches, found.mistakes]).toEqual([false, []]);
        },
      ),
    );
  });
});

describe('a message whose mistakes would take seconds to try', () => {
  /** Six keys have 720 orders. */
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const body = JSON.stringify(Object.fromEntries(keys.map((key) => [key, key.repeat(5000)])));
  const long: SignatureQuestion = { ...CALL, body, given: 'a'.repeat(64) };

  it('is told to be too long to try all of them', () => {
    expect(explainSignature(long).mistakes).toEqual([expect.stringContaining('too long to try')]);
  });

  it('has one budget for all secrets, and is compared with each even so', async () => {
    const budget = new HashBudget();
    await explainSignatureInTurns(long, budget);
    expect(budget.isSpent).toBe(true);
    const given = hex(`POST${CALL.path}${CALL.requestId ?? ''}${body}`, 'other');
    const other = { ...long, secret: 'other' };
    expect((await explainSignatureInTurns({ ...other, given }, budget)).matches).toBe(true);
    const { mistakes } = await explainSignatureInTurns(other, budget);
    expect(mistakes).toEqual([expect.stringContaining('too long to try')]);
  });

  it('lets others have their turn meanwhile', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await explainSignatureInTurns(long);
    isOver = true;
    expect(turns).toBeGreaterThan(10);
  });

  it('may be nested as deep as it will', () => {
    const deep = `{"a":${'['.repeat(15_000)}${']'.repeat(15_000)}}`;
    expect(explainSignature({ ...long, body: deep }).matches).toBe(false);
  });
});
