import { describe, expect, it } from '@jest/globals';
import { SingleFlight } from './sharing.js';

describe('SingleFlight', () => {
  it('runs once for all who ask while it is under way, and again afterwards', async () => {
    const flight = new SingleFlight<number>();
    let begun = 0;
    const work = (): Promise<number> => Promise.resolve(++begun);
    expect(await Promise.all([flight.run(work), flight.run(work)])).toEqual([1, 1]);
    expect(flight.underWay()).toBeUndefined();
    expect(await flight.run(work)).toBe(2);
  });

  it('runs once for each key', async () => {
    const flight = new SingleFlight<string, string>();
    const one = flight.run(() => Promise.resolve('one'), 'a');
    const other = flight.run(() => Promise.resolve('other'), 'b');
    expect(flight.underWay('a')).toBe(one);
    expect(await Promise.all([one, other])).toEqual(['one', 'other']);
  });

  it('gives a failure to all who wait for it, and keeps nothing of it', async () => {
    const flight = new SingleFlight<number>();
    const failing = (): Promise<number> => Promise.reject(new Error('down'));
    const both = [flight.run(failing), flight.run(() => Promise.resolve(1))];
    expect(await Promise.allSettled(both)).toEqual([
      { status: 'rejected', reason: new Error('down') },
      { status: 'rejected', reason: new Error('down') },
    ]);
    expect(await flight.run(() => Promise.resolve(1))).toBe(1);
  });
});
