/**
 * Two indexers on one database: whatever happens to the leader, the other takes over, and the index stays consistent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { IndexStore } from '#libs/db';
import { testSeeds } from '#libs/testing/seeds';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerProgram } from './indexer-program.js';
import { IndexerSuite, START } from './suite.js';

describe.each(testSeeds().slice(-1))('two indexers, with $which,', ({ seed }) => {
  const programs: IndexerProgram[] = [];
  // Registered before the suite's own hook, which drops the database.
  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.kill()));
  });
  const suite = new IndexerSuite();

  async function start(): Promise<IndexerProgram> {
    const program = await IndexerProgram.start(suite.chain, suite.database);
    programs.push(program);
    return program;
  }

  /** Starts a leader, waits until it is level, and starts a standby. */
  async function startBoth(): Promise<[leader: IndexerProgram, standby: IndexerProgram]> {
    const leader = await start();
    await leader.level(suite.chain);
    const standby = await start();
    await standby.standby();
    return [leader, standby];
  }

  async function fence(): Promise<bigint | undefined> {
    return (await new IndexStore(await suite.database.open()).state())?.fence;
  }

  it('go on where the leader is killed: the standby indexes what follows', async () => {
    const random = randomOf(seed);
    const history = new HistoryMaker(random, START);
    await suite.chain.player.play(history.blocks(30));
    const [leader, standby] = await startBoth();
    await suite.chain.player.play(history.blocks(150));
    await sleep(random(300));
    await leader.kill();
    await standby.level(suite.chain);
    await suite.expectIndexed();
    const next = await start();
    await next.standby();
  }, 240_000);

  it('go on where the leader is stopped: resumed later, it writes nothing', async () => {
    const random = randomOf(seed);
    const history = new HistoryMaker(random, START);
    await suite.chain.player.play(history.blocks(30));
    const [leader, standby] = await startBoth();
    const fork = history.save();
    await suite.chain.player.play(history.blocks(40));
    await sleep(random(300));
    leader.signal('SIGSTOP');
    // The chain changes, so that what the stopped indexer has read is outdated when it goes on.
    history.restore(fork);
    await suite.chain.player.reorganise(40, history.blocks(50));
    await standby.level(suite.chain);
    const led = await fence();
    leader.signal('SIGCONT');
    await leader.standby();
    await suite.expectIndexed();
    await suite.chain.player.play(history.blocks(10));
    await standby.level(suite.chain);
    await leader.standby();
    await suite.expectIndexed();
    expect(await fence()).toBe(led);
  }, 240_000);
});
