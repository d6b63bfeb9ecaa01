import { describe, expect, it } from '@jest/globals';
import { deadlineIn, sleep, withTimeout } from './index.js';

const never = new Promise<never>(() => undefined);
const late = (): Error => new Error('late');

describe('sleep', () => {
  it('ends early, without an error, when the signal is aborted', async () => {
    const stop = new AbortController();
    const slept = sleep(60_000, stop.signal);
    stop.abort(new Error('stop'));
    await expect(slept).resolves.toBeUndefined();
    await expect(sleep(60_000, stop.signal)).resolves.toBeUndefined();
  });
});

describe('within', () => {
  it('gives what the work gives or throws in time', async () => {
    expect(await withTimeout(60_000, Promise.resolve(1), () => 2)).toBe(1);
    await expect(withTimeout(60_000, Promise.reject(new Error('own')), late)).rejects.toThrow(
      'own',
    );
  });

  it('gives or throws what it is told to where the work takes longer', async () => {
    expect(await withTimeout(1, never, () => 2)).toBe(2);
    const thrown = withTimeout(1, never, () => {
      throw late();
    });
    await expect(thrown).rejects.toThrow('late');
  });
});

describe('deadlineIn', () => {
  it('ends its signal when the time is up', async () => {
    const { signal } = deadlineIn(1, { late });
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    expect(signal.reason).toEqual(new Error('late'));
  });

  it('ends its signal with the parent, by the reason that is made of its own', () => {
    const parent = new AbortController();
    const plain = deadlineIn(60_000, { late, parent: parent.signal });
    const told = deadlineIn(60_000, { late, parent: parent.signal, ended: (by) => ({ by }) });
    parent.abort('over');
    const after = deadlineIn(60_000, { late, parent: parent.signal });
    const all = [plain, told, after];
    expect(all.map(({ signal }) => signal.reason as unknown)).toEqual([
      'over',
      { by: 'over' },
      'over',
    ]);
    for (const one of all) one.end();
  });

  it('hears nothing more after its end, and can be ended by hand', () => {
    const parent = new AbortController();
    const ended = deadlineIn(60_000, { late, parent: parent.signal });
    const aborted = deadlineIn(60_000, { late });
    ended.end();
    aborted.abort();
    parent.abort();
    expect([ended.signal.aborted, aborted.signal.aborted]).toEqual([false, true]);
  });
});
