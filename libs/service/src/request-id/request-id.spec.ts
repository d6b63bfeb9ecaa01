import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createLogger, requestIdOf, withRequestId } from '../index.js';
import { RequestScope } from './request-id.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const idOf = (given?: string): string =>
  requestIdOf({ headers: given === undefined ? {} : { 'x-request-id': given } });

describe('requestIdOf', () => {
  it.each(['a', '0194d1f4-6a2b-7c3d-8e4f-5a6b7c8d9e0f', 'A.b_C-9', 'x'.repeat(64)])(
    'repeats %s',
    (given) => {
      expect(idOf(given)).toBe(given);
    },
  );

  it.each([undefined, '', 'x'.repeat(65), 'a b', 'a,b', 'a\nb', 'é', '{"a":1}', 'a\r\nX: y'])(
    'makes a new one instead of %j',
    (given) => {
      const [one, other] = [idOf(given), idOf(given)];
      expect(one).toMatch(UUID);
      expect(other).not.toBe(one);
    },
  );

  it('is always something that may be in a header and in a log', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (given) => {
        expect(idOf(given)).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
      }),
    );
  });
});

describe('a line of the log', () => {
  it('carries the id of the request that is being served, and only of it', async () => {
    const written: string[] = [];
    const destination = { write: (line: string) => void written.push(line) };
    const logger = createLogger({ app: 'test', destination });
    const log = async (msg: string): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      logger.info(msg);
    };
    await Promise.all([
      withRequestId('one', () => log('of one')),
      withRequestId('two', () => log('of two')),
      log('of none'),
    ]);
    logger.child({ queue: 'q' }).info('of none');
    const lines = written.map((line) => JSON.parse(line) as Record<string, unknown>);
    const told = lines.map(({ msg, requestId }) => [msg, requestId]).sort();
    expect(told).toEqual([
      ['of none', undefined],
      ['of none', undefined],
      ['of one', 'one'],
      ['of two', 'two'],
    ]);
  });

  it('written after the answer no longer belongs to the request', async () => {
    const scope = new RequestScope('one');
    const kept = new EventEmitter();
    const seen: (string | undefined)[] = [];
    await scope.run(async () => {
      kept.on('lost', () => seen.push(RequestScope.currentId()));
      kept.emit('lost');
      await Promise.resolve();
      scope.end();
      kept.emit('lost');
    });
    expect(seen).toEqual(['one', undefined]);
  });
});
