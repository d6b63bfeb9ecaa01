/**
 * The indexer as a program, alone and beside another one on the same database: whatever happens to the leader, the other
 * takes over, and the index stays consistent. test/simulation kills leaders at any step, and breaks connections before and
 * after commits. Needs a build.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { IndexStore } from '#libs/db';
import { compileCache } from '#libs/testing/programs';
import { testSeeds } from '#libs/testing/seeds';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerProgram } from './indexer-program.js';
import { IndexerSuite, START } from './suite.js';

const programs: IndexerProgram[] = [];
afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.kill()));
});
const suite = new IndexerSuite();

async function start(): Promise<IndexerProgram> {
  const program = await IndexerProgram.start(suite.chain, suite.database);
  programs.push(program);
  return program;
}

describe('the indexer process', () => {
  it('ends cleanly, and soon, on SIGTERM', async () => {
    await suite.chain.player.play(new HistoryMaker(randomOf(3), START).blocks(50));
    const program = await start();
    await program.level(suite.chain);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    await suite.expectIndexed();
  });

  it('refuses to start with a wrong setting: names it, and shows no value', async () => {
    const child = spawn(process.execPath, ['dist/apps/indexer/src/main.js'], {
      env: { ...compileCache(), DATABASE_URL: 'mysql://root:hunter2@localhost/x', CHAIN_ID: 'one' },
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(1);
    expect(output).toMatch(/DATABASE_URL must be/);
    expect(output).toMatch(/CHAIN_ID/);
    expect(output).toMatch(/RPC_URLS must be set/);
    expect(output).not.toContain('hunter2');
  });
});

describe.each(testSeeds().slice(-1))('two indexers, with $which,', ({ seed }) => {
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
