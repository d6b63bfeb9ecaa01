import { expect, it } from '@jest/globals';
import { FencedError } from '#libs/db';
import { RetryableError } from '#libs/domain';
import { type IndexWriter } from '../write/index-writer.js';
import { type HeadsReader } from '../vouch/heads-reader.js';
import { IndexLoop } from './index-loop.js';

const nextTurnOfEvents = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('a turn ends when its write has ended, with the error of the write', async () => {
  const node = new RetryableError('NODE_AWAY', 'the node is away');
  const heads = { read: () => Promise.reject(node) } as unknown as HeadsReader;
  let endWrite: (error: Error) => void = () => undefined;
  const write = new Promise<void>((_, reject) => (endWrite = reject));
  const { signal } = new AbortController();
  const writer = { isOpen: true, settled: () => write, signal } as unknown as IndexWriter;
  const none = undefined as never;
  const loop = new IndexLoop(heads, none, none, none, none, none, none, none, none);
  let isOver = false;
  const turn = loop.turn(writer, 'more');
  const ended = turn.finally(() => (isOver = true));
  await nextTurnOfEvents();
  expect(isOver).toBe(false);
  endWrite(new FencedError());
  await expect(ended).rejects.toThrow(FencedError);
});
