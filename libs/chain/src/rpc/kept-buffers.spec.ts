import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { KeptBuffers } from './kept-buffers.js';

const MANY = 3_000_000;

function textOf(buffers: KeptBuffers, ...chunks: readonly (string | Buffer)[]): Promise<string> {
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return buffers.read(body, () => undefined, String);
}

describe('KeptBuffers', () => {
  it('give each body back as it was, whatever was read before it', async () => {
    const buffers = new KeptBuffers();
    for (const text of ['', 'a', 'b'.repeat(MANY), 'short', 'ä€😀'.repeat(1000), '']) {
      expect(await textOf(buffers, text)).toBe(text);
    }
  });

  it('join characters that two chunks share', async () => {
    const bytes = Buffer.from('a€b');
    expect(await textOf(new KeptBuffers(), bytes.subarray(0, 2), bytes.subarray(2))).toBe('a€b');
  });

  it('keep bodies apart that arrive at the same time', async () => {
    const buffers = new KeptBuffers();
    const texts = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(200_000));
    const halves = texts.map((text) => [text.slice(0, 100_000), text.slice(100_000)]);
    const read = (): Promise<string[]> =>
      Promise.all(halves.map((parts) => textOf(buffers, ...parts)));
    expect(await read()).toEqual(texts);
    expect(await read()).toEqual(texts);
  });

  it('tell how much there is, and stop where that is refused', async () => {
    const buffers = new KeptBuffers();
    const seen: number[] = [];
    const onBytes = (bytes: number): void => {
      seen.push(bytes);
      if (bytes > 3) throw new Error('too large');
    };
    const body = Readable.from([Buffer.alloc(3), Buffer.alloc(4)]);
    const read = buffers.read(body, onBytes, String);
    await expect(read).rejects.toThrow('too large');
    expect(seen).toEqual([3, 7]);
    expect(await textOf(buffers, 'next')).toBe('next');
  });
});
