import { describe, expect, it } from '@jest/globals';
import { Closers } from './context.js';

describe('Closers', () => {
  it('closes in reverse order, and goes on after a fault', async () => {
    const seen: string[] = [];
    const closers = new Closers((name, error) => seen.push(`${name}: ${String(error)}`));
    const add = (name: string, close: () => Promise<void>) => {
      closers.add(name, async () => {
        seen.push(name);
        await close();
      });
    };
    add('first', () => Promise.resolve());
    add('second', () => Promise.reject(new Error('stuck')));
    add('third', () => Promise.resolve());
    await closers.closeAll();
    expect(seen).toEqual(['third', 'second', 'second: Error: stuck', 'first']);
  });

  it('closes at once what comes too late', async () => {
    const closers = new Closers(() => undefined);
    await closers.closeAll();
    let closed = false;
    closers.add('late', () => {
      closed = true;
      return Promise.resolve();
    });
    await closers.late();
    expect(closed).toBe(true);
  });
});
