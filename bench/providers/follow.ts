/** The cost of following the head of a quiet chain: requests per new block and endpoint. */
import { setTimeout as sleep } from 'node:timers/promises';
import { testConstants } from '#libs/config';
import { type ProviderStats, REPLAY_SHAPES, slicedShape } from '../replay/index.js';
import { systemClock } from '#libs/platform';
import { type BenchServer } from '../support/bench-database.js';
import { count, fixed, table } from '../support/figures.js';
import { Progress, say } from '../support/progress.js';
import { Oracle } from './oracle.js';
import { ProviderProcess } from './provider-process.js';
import { readState, type RunPlace, startIndexer } from './runs.js';

const POLL_INTERVAL_MS = 200;
const BLOCK_MS = 1000;
const SYNC_LIMIT_MS = 60_000;
/** Divides the sparse chain, so that its first sync takes seconds. */
const SLICE = 500;

export async function measureFollow(
  server: BenchServer,
  {
    blocks,
    folder,
    settings,
  }: {
    readonly blocks: number;
    readonly folder: string;
    readonly settings: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { finalityDepth } = REPLAY_SHAPES.sparse;
  for (const endpoints of [1, 2]) {
    const sliced = slicedShape(REPLAY_SHAPES.sparse, SLICE);
    // Makes a live chain: the newest block has the current time.
    const genesisSeconds = Math.floor(systemClock.nowMs() / 1000) - sliced.blocks;
    const shape = { ...sliced, finalityDepth, blockSeconds: 1, genesisSeconds };
    const { chain } = new Oracle(shape);
    const logFile = `${folder}/provider.log`;
    const providers = await ProviderProcess.start(shape, { logFile, tracksRepeats: true });
    try {
      const urls = await providers.behave(Array.from({ length: endpoints }, () => ({})));
      const stats = await server.withDatabase((databaseUrl, client) =>
        follow({ chain, urls, databaseUrl, client, folder }, { providers, blocks, settings }),
      );
      print(stats.slice(0, endpoints), blocks);
    } finally {
      await providers.stop();
    }
  }
}

async function follow(
  place: RunPlace,
  {
    providers,
    blocks,
    settings,
  }: {
    readonly providers: ProviderProcess;
    readonly blocks: number;
    readonly settings: Readonly<Record<string, string>>;
  },
): Promise<ProviderStats[]> {
  const { client, chain } = place;
  const program = startIndexer(place, {
    ...settings,
    ...testConstants({ pollIntervalMs: POLL_INTERVAL_MS }),
  });
  const untilAt = async (head: number): Promise<void> => {
    const begunMs = performance.now();
    for (;;) {
      program.requireRunning();
      const state = await readState(client);
      if (state.synced && state.head >= head) return;
      if (performance.now() - begunMs > SYNC_LIMIT_MS)
        throw new Error(`the indexer stands at block ${state.head}:\n${program.tail()}`);
      await sleep(POLL_INTERVAL_MS / 4);
    }
  };
  try {
    say(`Following the head by ${place.urls.length} endpoints …`);
    await untilAt(chain.head);
    await providers.reset();
    const progress = new Progress('following', blocks);
    for (let block = 1; block <= blocks; block++) {
      await providers.extend(1);
      await sleep(BLOCK_MS);
      progress.at(block);
    }
    await untilAt(chain.head + blocks);
    return await providers.stats();
  } finally {
    await program.stop();
  }
}

function print(stats: readonly ProviderStats[], blocks: number): void {
  console.log(
    `\nFollowing ${blocks} new blocks, one a second, polled every ${POLL_INTERVAL_MS} ms; figures are for one new block`,
  );
  const each = (value: number): string => fixed(value / blocks);
  table(
    ['endpoint', 'requests', 'of these polls', 'other requests', 'calls', 'asked twice', 'CU'],
    stats.map(({ requests, headPolls, byMethod, repeatedCalls, computeUnits }, index) => [
      `${index + 1} of ${stats.length}`,
      each(requests),
      each(headPolls),
      each(requests - headPolls),
      each(Object.values(byMethod).reduce((sum, { calls }) => sum + calls, 0)),
      count(repeatedCalls),
      each(computeUnits),
    ]),
  );
  for (const [index, { byMethod }] of stats.entries()) {
    const methods = Object.entries(byMethod).map(([name, { calls }]) => `${name} ${each(calls)}`);
    console.log(`  ${index + 1} of ${stats.length}: ${methods.join(', ')}`);
  }
}
