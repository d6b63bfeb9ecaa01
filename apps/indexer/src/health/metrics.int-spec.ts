import 'reflect-metadata';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { SchedulerRegistry } from '@nestjs/schedule';
import request from 'supertest';
import { readSettings } from '#libs/config';
import { createLogger, NestLogger } from '#libs/service';
import { startChain, type TestChain } from '#libs/testing/chain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { IndexerSettings } from '../settings/indexer.env.js';
import { IndexerModule } from '../indexer.module.js';

let chain: TestChain;
let database: TestDatabase;
beforeAll(async () => {
  [chain, database] = await Promise.all([
    startChain({ deployedSeconds: Date.parse('2026-11-20T00:00:00Z') / 1000 }),
    createTestDatabase(),
  ]);
});
beforeEach(() => database.empty());
afterAll(() => Promise.all([chain.stop(), database.drop()]));

/** More blocks than a sync that is not announced, and nearly all of them final. */
const BLOCKS = 1_200;

it('the whole indexer tells of its index, its sync and its connections', async () => {
  const { contracts } = chain;
  await chain.rpc.call('anvil_mine', `0x${BLOCKS.toString(16)}`);
  const { app, lines } = await anIndexer();
  try {
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const details = await levelDetails(url);
    const { text } = await request(url).get('/metrics').expect(200);
    expect(details).toMatchObject({
      startBlock: Number(contracts.startBlock),
      headBlock: details['chainHeadBlock'],
      percent: 100,
      secondsLeft: 0,
      verification: 'total',
    });
    expect(details['headBlock']).toBeGreaterThan(BLOCKS);
    for (const [name, value] of [
      ['start_block', String(contracts.startBlock)],
      ['sync_ratio', '1'],
      ['sync_seconds_left', '0'],
      ['sync_blocks_per_second', '[\\d.]+'],
    ] as const) {
      expect(text).toMatch(new RegExp(`^lowmark_index_${name}\\{app="indexer"\\} ${value}$`, 'm'));
    }
    expect(text).toContain('\nlowmark_index_verification{mode="total",app="indexer"} 1\n');
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: expect.stringMatching(/^Syncing: /),
        fromBlock: Number(contracts.startBlock),
        verification: 'total',
        maxRangeBlocks: expect.any(Number),
        leastCalls: expect.objectContaining({ eth_getLogs: 2, eth_call: 2 }),
        leastComputeUnits: expect.any(Number),
      }),
    );
    // The log names no estimates.
    for (const name of ['rangeBlocks', 'calls', 'computeUnits']) {
      expect(lines.filter((line) => name in line)).toEqual([]);
    }
    expect(text).toMatch(/^lowmark_index_halted\{app="indexer"\} 0$/m);
    for (const why of ['repair', 'reorganisation']) {
      expect(text).toContain(`\nlowmark_index_rollbacks_total{why="${why}",app="indexer"} 0\n`);
    }
    expect(text).toMatch(/^lowmark_audit_last_success_timestamp_seconds\{app="indexer"\} 0$/m);
    expect(jobsOf(app)).toEqual(['audit', 'partitions', 'seal']);
    for (const state of ['idle', 'busy', 'waiting']) {
      expect(text).toMatch(
        new RegExp(`^lowmark_database_connections\\{state="${state}",app="indexer"\\} \\d+$`, 'm'),
      );
    }
  } finally {
    await app.close();
  }
});

it('tells that nothing vouches for the events in the mode none, and has no audit that is off', async () => {
  const settings = { STAKE_VERIFICATION: 'none', AUDIT_HOUR_UTC: 'off' };
  const { app, lines } = await anIndexer(settings);
  try {
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    expect(await levelDetails(url)).toMatchObject({ verification: 'none' });
    const { text } = await request(url).get('/metrics').expect(200);
    expect(text).toContain('\nlowmark_index_verification{mode="none",app="indexer"} 1\n');
    expect(text).toMatch(/^lowmark_index_verified_block\{app="indexer"\} 0$/m);
    const told = { level: 'warn', msg: 'Events are verified by: none' };
    expect(lines).toContainEqual(expect.objectContaining(told));
    expect(jobsOf(app)).toEqual(['partitions', 'seal']);
    expect(text).not.toContain('lowmark_audit_');
  } finally {
    await app.close();
  }
});

function jobsOf(app: NestFastifyApplication): string[] {
  return [...app.get(SchedulerRegistry).getCronJobs().keys()].sort();
}

async function anIndexer(more: Readonly<Record<string, string>> = {}) {
  const { contracts } = chain;
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as never) };
  const logger = createLogger({ app: 'indexer', level: 'info', destination });
  const settings = readSettings(IndexerSettings, {
    DATABASE_URL: database.url,
    RPC_URLS: chain.rpc.url,
    CHAIN_ID: String(chain.chainId),
    FINALITY: 'depth:70',
    STAKE_CONTRACT: contracts.staking,
    STAKE_START_BLOCK: String(contracts.startBlock),
    TOKEN_CONTRACT: contracts.token,
    ...more,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    IndexerModule.register(settings, logger),
    new FastifyAdapter(),
    { logger: new NestLogger(createLogger({ app: 'indexer', level: 'silent' })) },
  );
  return { app, lines };
}

/** The index details of /health/ready, once the indexer follows the chain. */
async function levelDetails(url: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await request(url).get('/health/ready');
    const { details } = (body as { checks: { index: { details: Record<string, unknown> } } }).checks
      .index;
    if (details['phase'] === 'following') return details;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
