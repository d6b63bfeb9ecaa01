import { stat } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type SnapshotState } from '#libs/db';
import { CoalescedReads } from './snapshot-reader.js';

/** A source whose reads end when the test ends them. */
class Reads {
  readonly open: { readonly end: (state: SnapshotState) => void; readonly fail: () => void }[] = [];

  readonly source = (): Promise<SnapshotState> =>
    new Promise((resolve, reject) => {
      this.open.push({
        end: resolve,
        fail: () => {
          reject(new Error('gone'));
        },
      });
    });
}

const turn = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const state = (generation: string): SnapshotState => ({ generation }) as SnapshotState;

describe('CoalescedReads', () => {
  it('reads once for all who ask in the same turn', async () => {
    const reads = new Reads();
    const index = new CoalescedReads(reads.source);
    const asked = Promise.all([index.read(1), index.read(1), index.read(1)]);
    expect(reads.open).toHaveLength(0);
    await turn();
    expect(reads.open).toHaveLength(1);
    reads.open[0]?.end(state('a'));
    expect(await asked).toEqual([state('a'), state('a'), state('a')]);
  });

  it('never answers with a read that began before the question', async () => {
    const reads = new Reads();
    const index = new CoalescedReads(reads.source);
    const early = index.read(1);
    await turn();
    const late = [index.read(1), index.read(1)];
    await turn();
    expect(reads.open).toHaveLength(1);
    reads.open[0]?.end(state('old'));
    expect(await early).toEqual(state('old'));
    await turn();
    expect(reads.open).toHaveLength(2);
    reads.open[1]?.end(state('new'));
    expect(await Promise.all(late)).toEqual([state('new'), state('new')]);
  });

  it('tells all who wait of a failure, and reads again for the next', async () => {
    const reads = new Reads();
    const index = new CoalescedReads(reads.source);
    const failing = [index.read(1), index.read(1)];
    await turn();
    const next = index.read(1);
    reads.open[0]?.fail();
    for (const one of failing) await expect(one).rejects.toThrow('gone');
    await turn();
    reads.open[1]?.end(state('a'));
    expect(await next).toEqual(state('a'));
  });

  it('does not let a read that is stuck hold up others for long', async () => {
    const reads = new Reads();
    const index = new CoalescedReads(reads.source);
    const stuck = index.read(1);
    await turn();
    const other = index.read(1);
    while (reads.open.length < 2) await turn();
    reads.open[1]?.end(state('b'));
    expect(await other).toEqual(state('b'));
    reads.open[0]?.end(state('a'));
    expect(await stuck).toEqual(state('a'));
  });

  it('does not take a read for stuck whose answer came while the process itself was busy', async () => {
    let open = 0;
    let mostOpen = 0;
    const index = new CoalescedReads<number, void>(async () => {
      mostOpen = Math.max(mostOpen, ++open);
      await new Promise((resolve) => {
        stat('.', resolve);
      });
      open -= 1;
    });
    const early = index.read(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(open).toBe(1);
    const late = index.read(1);
    const busyUntil = performance.now() + 300;
    while (performance.now() < busyUntil);
    await Promise.all([early, late]);
    expect(mostOpen).toBe(1);
  });
});
