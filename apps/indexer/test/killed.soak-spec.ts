/** An indexer killed at any moment leaves a consistent index, from which it continues as if it had not been killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { testSeeds } from '#libs/testing/seeds';
import { startIndexer } from './harness.js';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerProgram } from './indexer-program.js';
import { indexedTables } from './oracle.js';
import { IndexerSuite, START } from './suite.js';

const KILLS = 8;
const LIMIT_MS = 180_000;

/** A provider that refuses one request in twenty, fails one in twenty, and leaves out one log in one answer of ten. */
async function aPoorProvider(
  upstream: string,
  random: (below: number) => number,
): Promise<FaultyNode> {
  const oneIn = (many: number) => () => random(many) === 0;
  const faults: Fault[] = [
    { kind: 'status', status: 429, when: oneIn(20) },
    { kind: 'status', status: 503, when: oneIn(20) },
    { kind: 'drop-one-log', when: oneIn(10) },
  ];
  return startFaultyNode({ upstream, fault: faults });
}

describe.each(testSeeds())('the indexer process, with $which,', ({ seed }) => {
  const programs: IndexerProgram[] = [];
  let provider: FaultyNode | undefined;
  // Registered before the suite's own hook, which drops the database.
  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.kill()));
    await provider?.close();
    provider = undefined;
  });
  const suite = new IndexerSuite();

  async function startProgram(): Promise<IndexerProgram> {
    const program = await IndexerProgram.start(suite.chain, suite.database, provider?.url);
    programs.push(program);
    return program;
  }

  /** Compares the tables with those of an undisturbed indexer. */
  async function expectUndisturbed(): Promise<void> {
    const undisturbed = await createTestDatabase();
    const fresh = await startIndexer({ chain: suite.chain, database: undisturbed });
    try {
      await fresh.level();
      expect(await indexedTables(await undisturbed.open())).toEqual(await suite.tables());
    } finally {
      await fresh.stop();
      await undisturbed.drop();
    }
  }

  it(
    `is killed ${KILLS} times at random moments during a backfill with reorganisations`,
    async () => {
      const random = randomOf(seed);
      const { chain } = suite;
      provider = await aPoorProvider(chain.rpc.url, randomOf(seed + 1));
      const history = new HistoryMaker(random, START);
      await chain.player.play(history.blocks(400));
      for (let kill = 0; kill < KILLS; kill++) {
        const program = await startProgram();
        const fork = history.save();
        const depth = 1 + random(20);
        await chain.player.play(history.blocks(depth));
        await sleep(random(1500));
        if (random(2) === 0) {
          history.restore(fork);
          await chain.player.reorganise(depth, history.blocks(1 + random(25)));
        }
        await sleep(random(300));
        await program.kill();
      }
      await (await startProgram()).level(chain);
      await suite.expectIndexed();
      await expectUndisturbed();
    },
    LIMIT_MS,
  );
});
