/** Who leads and when it ends: the supervisor, the turns of the loop, and the failures that halt the index. */
import { describe, expect, it } from '@jest/globals';
import { DatabaseUnavailableError, FencedError, type IndexStore, type LeaderLock } from '#libs/db';
import { type BlockHash, type BlockRef, PermanentError, RetryableError } from '#libs/domain';
import { type Logger, systemClock } from '#libs/platform';
import { aBlock, anInitialIndex } from '#libs/testing/database';
import { IndexLoop, pollWaitMs } from './index-loop.js';
import { IndexStatus } from '../health/index-status.js';
import { type IndexOptions } from '../settings/index-options.js';
import { type IndexPreparation } from '../setup/index-preparation.js';
import { Supervisor } from './supervisor.js';
import { Failures } from './failures.js';
import { type IndexWriter } from '../write/index-writer.js';
import { type HeadsReader } from '../vouch/heads-reader.js';

const drop = (): void => undefined;
const LOGGER: Logger = {
  ...{ fatal: drop, error: drop, warn: drop },
  ...{ info: drop, debug: drop, trace: drop },
};
const OPTIONS = {
  ...{ contracts: ['0x1'], firstBlock: 1n, cachedWallets: 1, events: [] },
  ...{ stallAfterMs: 60_000, standbyIntervalMs: 5, maxBackoffMs: 5, haltedRetryMs: 60_000 },
} as unknown as IndexOptions;

/**
 * A supervisor whose turns all fail. It stops when it wants the lead again, and with the third turn.
 * @param error default: one that only an operator can correct
 */
function failingSupervisor(
  storeHalt: () => Promise<void>,
  error: Error = new PermanentError('BLOCKS_OUT_OF_ORDER', 'out of order'),
) {
  const seen: string[] = [];
  const stop = new AbortController();
  const store = {
    takeLead: () => Promise.resolve(1n),
    state: () => Promise.resolve({ ...anInitialIndex(), head: aBlock(0) }),
    blocks: () => Promise.resolve([]),
    halt: () => {
      seen.push('halt');
      return storeHalt();
    },
  } as unknown as IndexStore;
  const lock = {
    lost: new Promise(drop),
    tryAcquire: () => {
      if (seen.includes('release')) stop.abort();
      return Promise.resolve(true);
    },
    release: () => {
      seen.push('release');
      return Promise.resolve();
    },
  } as unknown as LeaderLock;
  let turns = 0;
  const turn = () => {
    turns += 1;
    if (turns === 3) stop.abort();
    return Promise.reject(error);
  };
  const status = new IndexStatus();
  const preparation = { prepare: () => Promise.resolve() } as unknown as IndexPreparation;
  const loop = { turn } as unknown as IndexLoop;
  const supervisor = new Supervisor(
    preparation,
    lock,
    loop,
    store,
    status,
    systemClock,
    LOGGER,
    OPTIONS,
  );
  const running = supervisor.keepIndex(stop.signal);
  return { seen, stop, status, running, turns: () => turns };
}

describe('Supervisor', () => {
  it('gives the lead up if another process leads when it halts', async () => {
    const { seen, running } = failingSupervisor(() => Promise.reject(new FencedError()));
    await running;
    expect(seen.slice(0, 2)).toEqual(['halt', 'release']);
  });

  it('gives the lead up if a turn finds that another process leads', async () => {
    const { running, turns } = failingSupervisor(() => Promise.resolve(), new FencedError());
    await running;
    expect(turns()).toBe(1);
  });

  it('tries to store a halt until the database answers, and keeps the lead', async () => {
    let calls = 0;
    const unavailable = new DatabaseUnavailableError(new Error('connection terminated'));
    let isStored = drop;
    const stored = new Promise<void>((resolve) => (isStored = resolve));
    const { seen, stop, status, running } = failingSupervisor(() => {
      if (++calls < 3) return Promise.reject(unavailable);
      isStored();
      return Promise.resolve();
    });
    await stored;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(status).toMatchObject({ phase: 'halted', trouble: 'out of order' });
    expect(seen).toEqual(['halt', 'halt', 'halt']);
    stop.abort();
    await running;
  });
});

class Finding extends PermanentError {}

const timeOut = new RetryableError('TIMEOUT', 'no answer');
const mismatch = new Finding('TOTAL_MISMATCH', 'another total');
const negative = new Finding('NEGATIVE_BALANCE', 'below zero');
const setting = new Finding('SETTINGS_CHANGED', 'other settings');

function after(...errors: readonly Error[]): Failures {
  const failures = new Failures();
  for (const error of errors) failures.add(error);
  return failures;
}

describe('Failures', () => {
  it.each<[string, readonly Error[], PermanentError, boolean]>([
    ['a finding once', [mismatch], mismatch, false],
    ['a finding after two time-outs', [timeOut, timeOut, mismatch], mismatch, false],
    ['findings of several kinds', [negative, negative, mismatch], mismatch, false],
    ['a finding three times', [mismatch, timeOut, mismatch, negative, mismatch], mismatch, true],
    ['an error that no node can have caused', [setting], setting, true],
  ])('%s', (_case, errors, last, isConfirmed) => {
    const failures = after(...errors);
    expect(failures.isConfirmed(last)).toBe(isConfirmed);
    expect(failures.inARow).toBe(errors.length);
  });

  it('begins again after a success', () => {
    const failures = after(mismatch, mismatch);
    failures.clear();
    failures.add(mismatch);
    expect([failures.inARow, failures.isConfirmed(mismatch)]).toEqual([1, false]);
  });
});

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

const NOW = 1_800_000_000;

function blocksEvery(seconds: number, count = 20, newest = NOW): BlockRef[] {
  return Array.from({ length: count }, (_, index) => ({
    number: BigInt(index),
    hash: `0x${index.toString(16).padStart(64, '0')}` as BlockHash,
    timestampSeconds: Math.floor(newest - (count - 1 - index) * seconds),
  }));
}

const situation = { pollIntervalMs: 2000, hasNewBlocks: true, nowMs: NOW * 1000 };

describe('pollWaitMs', () => {
  it('is one beat of a live chain after a new block', () => {
    expect(pollWaitMs({ ...situation, blocks: blocksEvery(12) })).toBe(12_000);
    expect(pollWaitMs({ ...situation, blocks: blocksEvery(3) })).toBe(3000);
  });

  it('is never less than the poll interval, nor more than 15 s', () => {
    expect(pollWaitMs({ ...situation, blocks: blocksEvery(0.25) })).toBe(2000);
    expect(pollWaitMs({ ...situation, blocks: blocksEvery(60) })).toBe(15_000);
  });

  it.each([
    ['the block is late', { hasNewBlocks: false, blocks: blocksEvery(12) }],
    ['few blocks are known', { blocks: blocksEvery(12, 8) }],
    ['the chain is not live', { blocks: blocksEvery(12, 20, NOW - 61) }],
    ['there are none', { blocks: [] }],
  ])('is the poll interval where %s', (_, given) => {
    expect(pollWaitMs({ ...situation, ...given })).toBe(2000);
  });
});
