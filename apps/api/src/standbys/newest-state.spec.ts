import { beforeEach, describe, expect, it } from '@jest/globals';
import { type SnapshotRead, type SnapshotState } from '#libs/db';
import { NewestState } from './newest-state.js';

/** A read whose state is a new object each time, as reads from different servers are. */
function aRead(generation: string, block: number, usd = '1'): SnapshotRead {
  const state = { generation, head: { number: BigInt(block) } } as SnapshotState;
  return { state, stateText: `${generation} ${block} ${usd}`, daysTexts: [] };
}

const [PRIMARY, A, B] = [{}, {}, {}];

let newest: NewestState;
beforeEach(() => {
  newest = new NewestState();
});
const onStandby = (read: SnapshotRead, server: object): SnapshotState | undefined =>
  newest.admit(read, server, newest.begin());
const onPrimary = (read: SnapshotRead): SnapshotState => newest.take(read, PRIMARY, newest.begin());

describe('NewestState', () => {
  it('takes the first state from any server', () => {
    const read = aRead('g', 5);
    expect(onStandby(read, A)).toBe(read.state);
    expect(newest.state).toBe(read.state);
  });

  it('hands out one object for one state, whichever server shows it', () => {
    const first = onPrimary(aRead('g', 5));
    expect(onStandby(aRead('g', 5), A)).toBe(first);
    expect(onStandby(aRead('g', 5), B)).toBe(first);
    expect(onPrimary(aRead('g', 5))).toBe(first);
  });

  it('admits a newer block of the same generation, and no older one', () => {
    onStandby(aRead('g', 5), A);
    expect(onStandby(aRead('g', 6), B)?.head.number).toBe(6n);
    expect(onStandby(aRead('g', 5), A)).toBeUndefined();
    expect(newest.state?.head.number).toBe(6n);
  });

  it('leaves to the primary what cannot be put in order: another generation, another price', () => {
    onPrimary(aRead('g', 5));
    expect(onStandby(aRead('h', 9), A)).toBeUndefined();
    expect(onStandby(aRead('g', 5, '2'), A)).toBeUndefined();
    expect(onPrimary(aRead('h', 3)).generation).toBe('h');
    expect(onStandby(aRead('g', 5), A)).toBeUndefined();
    expect(onStandby(aRead('h', 3), A)?.generation).toBe('h');
  });

  it('follows a server that showed the newest state, whatever it shows later', () => {
    onStandby(aRead('g', 5), A);
    expect(onStandby(aRead('h', 3), A)?.generation).toBe('h');
    expect(onStandby(aRead('h', 3, '2'), A)).toBeDefined();
    // Another session object: the standby was disconnected, and another server may now have its address.
    expect(onStandby(aRead('i', 3), {})).toBeUndefined();
  });

  it('does not take a read of a server for later that began before what it showed', () => {
    const begun = newest.begin();
    onStandby(aRead('h', 3), A);
    expect(newest.admit(aRead('g', 5), A, begun)).toBeUndefined();
    expect(newest.state?.generation).toBe('h');
  });

  it('answers with what the primary showed, and keeps what was taken meanwhile', () => {
    const begun = newest.begin();
    onStandby(aRead('h', 3), A);
    expect(newest.take(aRead('g', 5), PRIMARY, begun).generation).toBe('g');
    expect(newest.state?.generation).toBe('h');
    expect(newest.take(aRead('h', 4), PRIMARY, begun).head.number).toBe(4n);
    expect(newest.state?.head.number).toBe(4n);
  });

  it('goes back where the primary does: after a failover it decides', () => {
    onStandby(aRead('g', 9), A);
    onPrimary(aRead('g', 7));
    expect(newest.state?.head.number).toBe(7n);
  });
});
