import 'reflect-metadata';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { SchedulerRegistry } from '@nestjs/schedule';
import request from 'supertest';
import { readSettings } from '#libs/config';
import { createLogger, NestLogger } from '#libs/platform';
import { createTestDatabase, startChain, type TestChain, type TestDatabase } from '#libs/testing';
import { IndexerSettings } from '../indexer.env.js';
import { IndexerModule } from '../indexer.module.js';

let chain: TestChain;
let database: TestDatabase;
beforeEach(async () => {
  [chain, database] = await Promise.all([
    startChain({ deployedSeconds: Date.parse('2026-11-20T00:00:00Z') / 1000 }),
    createTestDatabase(),
  ]);
});
afterEach(() => Promise.all([chain.stop(), database.drop()]));

it('the whole indexer tells of its index and of its connections', async () => {
  const { contracts } = chain;
  const settings = readSettings(IndexerSettings, {
    DATABASE_URL: database.url,
    RPC_URLS: chain.rpc.url,
    CHAIN_ID: String(chain.chainId),
    FINALITY: 'depth:70',
    STAKE_CONTRACT: contracts.staking,
    STAKE_START_BLOCK: String(contracts.startBlock),
    TOKEN_CONTRACT: contracts.token,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    IndexerModule.register(settings, createLogger({ app: 'indexer', level: 'silent' })),
    new FastifyAdapter(),
    { logger: new NestLogger(createLogger({ app: 'indexer', level: 'silent' })) },
  );
  try {
    await app.listen(0, '127.0.0.1');
    const { text } = await request(await app.getUrl())
      .get('/metrics')
      .expect(200);
    expect(text).toMatch(/^lowmark_index_halted\{app="indexer"\} 0$/m);
    for (const why of ['repair', 'reorganisation']) {
      expect(text).toContain(`\nlowmark_index_rollbacks_total{why="${why}",app="indexer"} 0\n`);
    }
    expect(text).toMatch(/^lowmark_audit_last_success_timestamp_seconds\{app="indexer"\} 0$/m);
    expect([...app.get(SchedulerRegistry).getCronJobs().keys()]).toEqual(['audit']);
    for (const state of ['idle', 'busy', 'waiting']) {
      expect(text).toMatch(
        new RegExp(`^lowmark_database_connections\\{state="${state}",app="indexer"\\} \\d+$`, 'm'),
      );
    }
  } finally {
    await app.close();
  }
});
