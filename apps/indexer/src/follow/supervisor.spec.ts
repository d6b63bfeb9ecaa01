import { describe, expect, it } from '@jest/globals';
import { DatabaseUnavailableError, FencedError, type IndexStore, type LeaderLock } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { type Logger, systemClock } from '#libs/platform';
import { aBlock, anInitialIndex } from '#libs/testing/database';
import { type IndexLoop } from './index-loop.js';
import { IndexStatus } from '../health/index-status.js';
import { type IndexOptions } from '../settings/index-options.js';
import { type IndexPreparation } from '../setup/index-preparation.js';
import { Supervisor } from './supervisor.js';

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
