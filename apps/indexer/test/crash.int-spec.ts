/** Stops and failures caused by an operator or by the database; `killed.soak-spec.ts` kills the process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { startChain, type TestChain } from '#libs/testing/chain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { compileCache } from '#libs/testing/programs';
import { type IndexerUnderTest, startIndexer } from './harness.js';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerProgram } from './indexer-program.js';
import { expectedTables, indexedTables } from './oracle.js';

const START = 1_760_000_000;

let chain: TestChain;
let database: TestDatabase;
const programs: IndexerProgram[] = [];

beforeEach(async () => {
  [chain, database] = await Promise.all([
    startChain({ deployedSeconds: START }),
    createTestDatabase(),
  ]);
});

afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.kill()));
  await Promise.all([chain.stop(), database.drop()]);
});

async function expectIndexed(): Promise<void> {
  const tables = await indexedTables(await database.open());
  expect(tables).toEqual(await expectedTables(chain.rpc, chain.contracts.staking));
}

async function startProgram(): Promise<IndexerProgram> {
  const program = await IndexerProgram.start(chain, database);
  programs.push(program);
  return program;
}

describe('the indexer process', () => {
  it('ends cleanly, and soon, on SIGTERM', async () => {
    await chain.player.play(new HistoryMaker(randomOf(3), START).blocks(50));
    const program = await startProgram();
    await program.level(chain);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    await expectIndexed();
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

describe('the connection to the database', () => {
  /** Fails transactions before or after their COMMIT, as a crash of either side does. */
  function unreliable(inner: Database, fails: () => 'before' | 'after' | undefined): Database {
    return new Proxy(inner, {
      get(target, property, receiver) {
        if (property !== 'transaction') return Reflect.get(target, property, receiver) as unknown;
        return async (work: Parameters<Database['transaction']>[0]) => {
          const failure = fails();
          if (failure === 'before') throw new Error('the connection broke before the commit');
          const result = await target.transaction(work);
          if (failure === 'after') throw new Error('the connection broke after the commit');
          return result;
        };
      },
    });
  }

  it.each<['before' | 'after']>([['before'], ['after']])(
    'breaks %s every third commit: no range is lost and none is written twice',
    async (when) => {
      const history = new HistoryMaker(randomOf(21), START);
      await chain.player.play(history.blocks(120));
      let commits = 0;
      const indexer: IndexerUnderTest = await startIndexer({
        chain,
        database,
        overrides: { maxRangeBlocks: 6, maxBackoffMs: 10 },
        through: unreliable(await database.open(), () => (++commits % 3 === 0 ? when : undefined)),
      });
      try {
        await indexer.level();
        await expectIndexed();
        const fork = history.save();
        await chain.player.play(history.blocks(9));
        await indexer.level();
        history.restore(fork);
        await chain.player.reorganise(9, history.blocks(12));
        await indexer.level();
        await expectIndexed();
      } finally {
        await indexer.stop();
      }
    },
  );
});
