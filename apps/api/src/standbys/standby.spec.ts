import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { eventually, FakeClock } from '#libs/testing';
import { Standby } from './standby.js';
import { WalHistory } from './wal-history.js';

type Row = readonly {
  readonly isStandby: boolean;
  readonly bytes: string;
  readonly system: string;
}[];

const POSITION: Row = [{ isStandby: true, bytes: '100', system: 's' }];

/** Resolves and rejects when the test says so. */
class Held<T> {
  resolve!: (value: T) => void;
  reject!: (error: Error) => void;
  readonly promise = new Promise<T>((resolve, reject) => {
    Object.assign(this, { resolve, reject });
  });
}

let positionOf: () => Promise<Row>;
let standby: Standby;

beforeEach(async () => {
  positionOf = () => Promise.resolve(POSITION);
  const database = { query: () => positionOf(), inSet: () => database } as unknown as Database;
  const clock = new FakeClock(1_000_000);
  const history = new WalHistory(2000);
  history.ask(clock.nowMs())(100n);
  standby = new Standby({
    url: 'postgres://reader@standby.test/lowmark',
    open: () => Promise.resolve(database),
    history,
    primarySystem: () => 's',
    clock,
  });
  await probed();
  expect(standby.reason).toBeUndefined();
});

async function probed(): Promise<void> {
  const { probes } = standby;
  await eventually(() => {
    standby.probe();
    return standby.probes > probes;
  });
}

const read = (answer: Promise<string>): Promise<string | undefined> =>
  standby.read(() => answer, 'default');
const fail = (): Promise<unknown> => read(Promise.reject(new Error('lost')));

describe('Standby', () => {
  it('does not serve what was read across a failure: another server may have the address', async () => {
    const held = new Held<string>();
    const reading = read(held.promise);
    await fail();
    held.resolve('of whichever server');
    expect(await reading).toBeUndefined();
    await probed();
    expect(await read(Promise.resolve('anew'))).toBe('anew');
  });

  it('stays unused after a failure, whatever a probe finds that began before it', async () => {
    const held = new Held<Row>();
    positionOf = () => held.promise;
    standby.probe();
    // The connection is known, so the question has been asked by now.
    await Promise.resolve();
    await fail();
    held.resolve(POSITION);
    await read(Promise.resolve('a turn later'));
    await new Promise(setImmediate);
    expect(standby.reason).toBe('lost');
    positionOf = () => Promise.resolve(POSITION);
    await probed();
    expect(standby.reason).toBeUndefined();
  });

  it('counts reads that fail together as one failure, so that the pause stays short', async () => {
    const [one, other] = [new Held<string>(), new Held<string>()];
    const [reading, alsoReading] = [read(one.promise), read(other.promise)];
    one.reject(new Error('lost'));
    expect(await reading).toBeUndefined();
    const { session } = standby;
    other.reject(new Error('lost as well'));
    expect(await alsoReading).toBeUndefined();
    expect(standby.reason).toBe('lost');
    expect(standby.session).toBe(session);
  });
});
