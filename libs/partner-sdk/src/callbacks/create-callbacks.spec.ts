import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type CallbackOptions,
  canonicalJson,
  createCallbacks,
  InvalidResultError,
  newRequestId,
  Refusal,
} from '../index.js';
import {
  aGame,
  API_KEY,
  ask,
  CONFIRMATION,
  DEDUCTION,
  expectRefused,
  makeCall,
  NOON_MS,
  REVERT,
  SECRET,
  WALLET,
} from '../testing/caller.support.js';

const DEDUCT = '/deduct-points-by-address';
const READ = `/get-points-by-address?address=${WALLET}`;

describe('options', () => {
  const { handlers } = aGame();
  const given: CallbackOptions = { apiKey: API_KEY, sharedSecret: SECRET };
  it.each([
    ['apiKey', { apiKey: '' }],
    ['apiKey', { apiKey: undefined as never }],
    ['apiKey', { apiKey: 'with blank' }],
    ['sharedSecret must be', { sharedSecret: undefined as never }],
    ['sharedSecret holds a line break', { sharedSecret: `${SECRET}\n` }],
    ['sharedSecret must be', { alsoAccept: [{ apiKey: 'a', sharedSecret: '' }] }],
    ['basePath', { basePath: '/' }],
    ['basePath', { basePath: 'game' }],
    ['basePath', { basePath: '/game/' }],
    ['basePath', { basePath: '/jeu é' }],
    ['freshSeconds', { freshSeconds: 0 }],
    ['freshSeconds', { freshSeconds: NaN }],
    ['maxBodyBytes', { maxBodyBytes: -1 }],
  ])('%s is refused at once, and no secret shown', (message, wrong: Partial<CallbackOptions>) => {
    const make = (): unknown => createCallbacks({ ...given, ...wrong }, handlers);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow(SECRET);
  });
});

it('callbacks that are logged show no key and no secret', () => {
  const { options, handlers } = aGame({
    alsoAccept: [{ apiKey: 'key2', sharedSecret: 'secret2' }],
  });
  const text = inspect(createCallbacks(options, handlers), { depth: 9, showHidden: true });
  expect(text).not.toMatch(new RegExp(`${API_KEY}|${SECRET}|key2|secret2`));
});

describe('authenticity', () => {
  it('lets in a second credential during a rotation, and signs with the caller’s', async () => {
    const newer = { apiKey: 'key_of_the_new_pair', sharedSecret: 'secret_of_the_new_pair' };
    const game = aGame({ alsoAccept: [newer] });
    expect(await ask(game, makeCall(READ))).toMatchObject({ isSigned: true, status: 200 });
    const headers = { 'x-api-key': newer.apiKey };
    const made = makeCall(READ, undefined, { secret: newer.sharedSecret, headers });
    const answer = await ask(game, made);
    expect(answer).toMatchObject({ isSigned: false, body: { success: true } });
    const mixed = await ask(game, makeCall(READ, undefined, { headers }));
    expect(mixed.body).toMatchObject({ errorCode: 'ERR-AUTH-FAILED' });
  });

  it.each([
    '7f1c2f3e-7d51-4c7b-9c2f-5b0f6f1a2c3d',
    '01a1fdfa467b7abc8def0123456789ab',
    '01a1fdfa-467b-7abc-8def-0123456789abc',
    '01a1fdfa-467b-7abc-0def-0123456789ab',
  ])('does not take X-API-REQUEST %s', async (requestId) => {
    const answer = await ask(aGame(), makeCall(READ, undefined, { requestId }));
    expectRefused(answer, 'ERR-AUTH-FAILED', 'X-API-REQUEST must be a UUID of version 7.');
  });

  it.each([
    [-300_000, true],
    [-300_001, false],
    [300_000, true],
    [300_001, false],
    [-NOON_MS, false],
  ])('minted %s ms from the clock here: let in is %s', async (offsetMs, accepted) => {
    const answer = await ask(aGame(), makeCall(READ, undefined, { nowMs: NOON_MS + offsetMs }));
    expect(answer.body['success']).toBe(accepted);
  });

  it('takes one of ten copies that come at once, and remembers it as long as it could pass for fresh', async () => {
    const game = aGame();
    const callbacks = createCallbacks(game.options, game.handlers);
    const { method, url, headers } = makeCall(READ, undefined, { nowMs: NOON_MS + 300_000 });
    const copy = async (): Promise<unknown> => {
      const { body } = await callbacks.handle({ method, url, headers, body: new Uint8Array() });
      return (JSON.parse(body) as { errorMessage?: string }).errorMessage;
    };
    const answers = await Promise.all(Array.from({ length: 10 }, copy));
    expect(answers.filter((message) => message === undefined)).toHaveLength(1);
    game.nowMs = NOON_MS + 600_000;
    expect(await copy()).toBe('X-API-REQUEST was used before.');
    game.nowMs = NOON_MS + 600_001;
    expect(await copy()).toMatch('more than 300 s');
  });

  it('does not let a call that somebody made up use up the id', async () => {
    const asked: string[] = [];
    const replayStore = { firstUse: (id: string) => Promise.resolve(asked.push(id) > 0) };
    const game = aGame({ replayStore });
    const requestId = newRequestId(NOON_MS);
    await ask(game, makeCall(READ, undefined, { requestId, secret: 'another' }));
    await ask(
      game,
      makeCall(READ, undefined, { requestId, nowMs: 0, headers: { 'x-api-key': '' } }),
    );
    expect(asked).toEqual([]);
    await ask(game, makeCall(READ, undefined, { requestId }));
    expect(asked).toEqual([requestId]);
  });

  it('does not carry out a copy of a refused deduction after a restart, when the ids are forgotten', async () => {
    const game = aGame();
    const made = makeCall(DEDUCT, { ...DEDUCTION, deductPoints: 5001 });
    const refused = await ask(game, made);
    expect(refused.body).toMatchObject({ errorCode: 'ERR-INSUFFICIENT-POINTS' });
    game.nowMs = NOON_MS + 1000;
    // The player has enough points by now. `ask` makes the callbacks again, as a restart does.
    game.handlers.deductPoints = (deduction) => {
      game.asked.push(deduction);
      return { partnerTransactionId: 'ptx_2' };
    };
    game.asked.length = 0;
    const message = 'X-API-REQUEST was made before this process began to remember ids.';
    expectRefused(await ask(game, made), 'ERR-AUTH-FAILED', message);
    expect(game.asked).toEqual([]);
    const later = makeCall(DEDUCT, DEDUCTION, { nowMs: game.nowMs });
    expect((await ask(game, later)).body['success']).toBe(true);
    // A read moves no points, and a process that is started by its first call still answers it.
    expect((await ask(game, makeCall(READ))).body['success']).toBe(true);
  });

  it('carries out an earlier call where the store outlives the process', async () => {
    const game = aGame({ replayStore: { firstUse: () => Promise.resolve(true) } });
    const made = makeCall(DEDUCT, DEDUCTION);
    game.nowMs = NOON_MS + 1000;
    expect((await ask(game, made)).body['success']).toBe(true);
  });

  it('does nothing where the store of ids fails', async () => {
    const replayStore = { firstUse: () => Promise.reject(new Error('Redis is away')) };
    const game = aGame({ replayStore });
    expectRefused(await ask(game, makeCall(DEDUCT, DEDUCTION)), 'ERR-INTERNAL', 'failed here');
    expect(game.asked).toEqual([]);
    expect(game.errors).toEqual([new Error('Redis is away')]);
  });
});

describe('where it is served', () => {
  it.each([
    [undefined, DEDUCT, true],
    [undefined, `/any/where${DEDUCT}`, true],
    ['/game/v1', `/game/v1${DEDUCT}?x=/y`, true],
    ['/game/v1', DEDUCT, false],
    ['/game/v1', `/game/v1/more${DEDUCT}`, false],
    ['/game/v1', `/Game/v1${DEDUCT}`, false],
    ['/game/v1', `/game%2Fv1${DEDUCT}`, false],
    [undefined, `${DEDUCT}/`, false],
    [undefined, 'deduct-points-by-address', false],
    [undefined, '*', false],
    [undefined, '', false],
    [undefined, '/%zz', false],
    [undefined, '/toString', false],
    [undefined, `/x?${DEDUCT}`, false],
  ])('with base path %p, %p: %p', async (basePath, url, isServed) => {
    const game = aGame(basePath === undefined ? {} : { basePath });
    expect(createCallbacks(game.options, game.handlers).owns(url)).toBe(isServed);
    const answer = await ask(game, makeCall(url, DEDUCTION));
    expect(answer).toMatchObject({ status: isServed ? 200 : 404, isSigned: true });
  });

  it('a confirmation that is not handled is no endpoint', async () => {
    const game = aGame();
    Object.assign(game.handlers, { confirmRedemption: undefined });
    expect((await ask(game, makeCall('/confirm-redemption', {}))).status).toBe(404);
  });

  it('HEAD is answered without a body, and that is what is signed', async () => {
    const answer = await ask(aGame(), makeCall(READ, undefined, { method: 'HEAD' }));
    expect(answer).toMatchObject({ status: 404, text: '', isSigned: true });
  });
});

describe('what is sent', () => {
  const withPoints = (text: string): string =>
    JSON.stringify(DEDUCTION).replace('"deductPoints":1500', `"deductPoints":${text}`);

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'nonsense',
    'application/json5',
    'application/jsonx; a=b',
    '',
  ])('Content-Type %p is refused', async (type) => {
    const made = makeCall(DEDUCT, DEDUCTION, { headers: { 'content-type': type } });
    const message = 'Content-Type must be application/json.';
    expectRefused(await ask(aGame(), made), 'ERR-INTERNAL', message);
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json ;x=y'])(
    'Content-Type %p is taken',
    async (type) => {
      const made = makeCall(DEDUCT, DEDUCTION, { headers: { 'content-type': type } });
      expect((await ask(aGame(), made)).body['success']).toBe(true);
    },
  );

  it.each([
    ['blank', ' '],
    ['text behind it', '{}x'],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['a byte order mark', '\ufeff{}'],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ])('not JSON: %s', async (_, body) => {
    const answer = await ask(aGame(), makeCall(DEDUCT, body));
    expectRefused(answer, 'ERR-INTERNAL', 'The body is not JSON in UTF-8.');
  });

  it.each(['5', '"x"', 'true', `${'['.repeat(30_000)}${']'.repeat(30_000)}`])(
    'JSON but no object: %.20s',
    async (body) => {
      const answer = await ask(aGame(), makeCall(DEDUCT, body));
      expectRefused(answer, 'ERR-INTERNAL', 'The body is not usable: it must be a JSON object');
    },
  );

  it.each([
    ['"deductPoints":1', 'deductPoints'],
    ['"\\u0061ddress":"x"', 'address'],
    ['"more":{"list":[{"a":1},{"a":1,"a":2}]}', 'a'],
    ['"\\ud800":1,"\\ud800":2', 'a field'],
  ])('%s beside the fields is one field twice', async (text, name) => {
    const body = JSON.stringify(DEDUCTION).replace('{', `{${text},`);
    const answer = await ask(aGame(), makeCall(DEDUCT, body));
    expectRefused(answer, 'ERR-INTERNAL', `The body is not usable: ${name} must be given once`);
    // A field twice has no canonical form that a signature could be for.
    const signed = JSON.stringify(JSON.parse(body));
    expectRefused(await ask(aGame(), makeCall(DEDUCT, body, { signed })), 'ERR-AUTH-FAILED');
  });

  const CALLS: Readonly<Record<string, readonly [path: string, body: object]>> = {
    deduction: [DEDUCT, DEDUCTION],
    revert: ['/revert-deduct-points', REVERT],
    confirmation: ['/confirm-redemption', CONFIRMATION],
  };
  const LONG = 'x'.repeat(1001);
  it.each<[string, string, readonly unknown[]]>([
    ['deduction', 'address', [5, null, '', '0x12', [], {}, ` ${WALLET}`, `${WALLET}\0`]],
    ['deduction', 'svcRedemptionId', [5, null, '', '0x12', [], {}]],
    ['revert', 'partnerTransactionId', [null, '', 5, 'x'.repeat(256), 'a\0b']],
    ['revert', 'revertReason', [null, LONG, '\0', ['a'], '\ud800']],
    ['confirmation', 'txnHash', ['0x12', 5]],
    ['confirmation', 'claimedAt', ['yesterday']],
    ['confirmation', 'pendingAt', ['2026-13-45T99:00:00Z']],
    ['confirmation', 'initialAt', [null]],
    ['confirmation', 'status', ['failed']],
    ['confirmation', 'usdAmount', [-1, '340', null]],
    ['confirmation', 'txnConfirmed', ['true']],
  ])('a %s names its %s where that is wrong', async (kind, field, values) => {
    const [path = '', body] = CALLS[kind] ?? [];
    const message = new RegExp(`^The request is not usable: ${field} must be [^;]*$`);
    for (const value of values) {
      // A lone surrogate has no canonical form, so the body is printed here.
      const sent = JSON.stringify({ ...body, [field]: value });
      expectRefused(await ask(aGame(), makeCall(path, sent)), 'ERR-INTERNAL', message);
    }
  });

  it.each(['1e3', '1000.0', '10E2'])('deductPoints of %s is the number 1000', async (text) => {
    const game = aGame();
    await ask(game, makeCall(DEDUCT, withPoints(text)));
    expect(game.asked).toEqual([{ ...DEDUCTION, deductPoints: 1000 }]);
  });

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

describe('what a handler gives', () => {
  const good = { partnerUserId: 'p', points: 0, chain: 'ronin' };
  it.each([
    ['whole number', { ...good, points: '5' }],
    ['whole number', { ...good, points: 5n }],
    ['whole number', { ...good, points: 1.5 }],
    ['whole number', { ...good, points: -1 }],
    ['partnerUserId', { ...good, partnerUserId: 7 }],
    ['partnerUserId', { ...good, partnerUserId: '' }],
    ['partnerUserId', { ...good, partnerUserId: 'a\0' }],
    ['chain', { ...good, chain: 'x'.repeat(65) }],
    ['no JSON form', { ...good, level: 5n }],
    ['must give an object', undefined],
    ['must give an object', null],
  ])('is held against the interface: %s', async (message, result) => {
    const game = aGame();
    game.handlers.getPoints = () => result as never;
    expectRefused(await ask(game, makeCall(READ)), 'ERR-INTERNAL', 'The call failed here.');
    expect(game.errors).toEqual([expect.any(InvalidResultError)]);
    expect((game.errors[0] as Error).message).toMatch(message);
  });

  it('cannot change what the answer is about', async () => {
    const game = aGame();
    game.handlers.getPoints = () => ({ ...good, success: false, address: '0xother' });
    expect((await ask(game, makeCall(READ))).body).toEqual({
      ...good,
      success: true,
      address: WALLET,
    });
    game.handlers.deductPoints = () => {
      throw new Refusal('ERR-DUPLICATE-REQUEST', 'Twice.', { success: true, errorCode: 'x', a: 1 });
    };
    const refused = await ask(game, makeCall(DEDUCT, DEDUCTION));
    expectRefused(refused, 'ERR-DUPLICATE-REQUEST', 'Twice.', { a: 1 });
  });

  it('a refusal that cannot be sent is a failure', async () => {
    const game = aGame();
    game.handlers.deductPoints = () => Promise.reject(new Refusal('ERR-INTERNAL', 'x', { a: 1n }));
    expectRefused(await ask(game, makeCall(DEDUCT, DEDUCTION)), 'ERR-INTERNAL', 'failed here');
    expect(game.errors).toHaveLength(1);
  });

  it('reports that fail change nothing', async () => {
    const broken = (): void => {
      throw new Error('The log is full');
    };
    const game = aGame({ onError: broken, onRefused: broken });
    const printed = console.error;
    const lines: unknown[] = [];
    console.error = (line: unknown) => void lines.push(line);
    const answer = await ask(game, makeCall(DEDUCT, { ...DEDUCTION, deductPoints: 13 }));
    await ask(game, makeCall(DEDUCT, {}));
    console.error = printed;
    expectRefused(answer, 'ERR-INTERNAL', 'failed here');
    expect(lines).toHaveLength(2);
  });
});
