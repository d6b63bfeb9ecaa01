/**
 * Tests the spans that a collector receives from the indexer: ranges, a rollback and prices, but nothing of its
 * constant polling.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testConstants } from '#libs/config';
import { startChain, type TestChain } from '#libs/testing/chain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { HistoryMaker, randomOf } from '../../apps/indexer/test/history.js';
import { OtlpCollector, type SeenSpan } from './otlp-collector.js';
import { TracedProgram } from './traced-program.js';

const START = 1_760_000_000;
const RPC_SECRET = 'rpc-secret-0a1b2c3d4e5f';

let chain: TestChain;
let database: TestDatabase;
let collector: OtlpCollector;
let program: TracedProgram;

const history = new HistoryMaker(randomOf(1), START);

const named = (name: string) => (span: SeenSpan) => span.name === name;

beforeAll(async () => {
  [chain, database] = await Promise.all([
    startChain({ deployedSeconds: START }),
    createTestDatabase(),
  ]);
  collector = await OtlpCollector.start();
  await chain.player.play(history.blocks(10));
  const { contracts } = chain;
  program = await TracedProgram.start('indexer', {
    DATABASE_URL: database.url,
    RPC_URLS: `${chain.rpc.url}/?key=${RPC_SECRET}`,
    CHAIN_ID: String(chain.chainId),
    FINALITY: 'depth:70',
    STAKE_CONTRACT: contracts.staking,
    STAKE_START_BLOCK: String(contracts.startBlock),
    TOKEN_CONTRACT: contracts.token,
    PRICE_SOURCE: 'fixed:0.5',
    ...testConstants({ pollIntervalMs: 50 }),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
});

afterAll(async () => {
  await program.kill();
  await collector.stop();
  await chain.stop();
  await database.drop();
});

describe('the indexer', () => {
  it('tells of each range: read from the chain, written in one transaction', async () => {
    const read = await collector.seen(named('read range'));
    expect(read).toMatchObject({ service: 'lowmark-indexer', kind: 1, failed: false });
    const methods = collector.childrenOf(read).map(({ attributes }) => attributes['rpc.method']);
    expect(methods).toContain('eth_getLogs');
    const copied = await collector.seen(named('COPY'));
    const transaction = await collector.seen(({ spanId }) => spanId === copied.parentSpanId);
    const write = await collector.seen(({ spanId }) => spanId === transaction.parentSpanId);
    expect([write.name, transaction.name]).toEqual(['write range', 'TRANSACTION']);
    const { 'lowmark.from_block': from, 'lowmark.to_block': to } = write.attributes;
    expect(Number(to)).toBeGreaterThanOrEqual(Number(from));
  });

  it('tells of a rollback, and how deep it was', async () => {
    const fork = history.save();
    await chain.player.play(history.blocks(3));
    const head = Number(await chain.player.head());
    await collector.seen(({ attributes }) => attributes['lowmark.to_block'] === head);
    history.restore(fork);
    await chain.player.reorganise(3, history.blocks(4));
    const rollback = await collector.seen(named('rollback'));
    expect(rollback.attributes).toMatchObject({
      'lowmark.reason': 'reorganisation',
      'lowmark.depth': 3,
    });
    expect(collector.childrenOf(rollback).map(({ name }) => name)).toContain('TRANSACTION');
  });

  it('tells of a price that was read', async () => {
    const reading = await collector.seen(named('price reading'));
    expect(collector.childrenOf(reading).every(({ kind }) => kind === 3)).toBe(true);
    const names = collector.childrenOf(reading).map(({ name }) => name);
    expect(names).toEqual(['price_standing', 'price_record']);
  });

  it('tells nothing of its looking for blocks, and nothing secret', async () => {
    const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === '');
    const names = new Set(roots.map(({ name }) => name));
    const known = ['read range', 'write range', 'rollback', 'wallet check', 'nightly audit'];
    known.push('price reading');
    expect([...names].filter((name) => !known.includes(name))).toEqual([]);
    expect(await program.terminate()).toBe(0);
    const sent = collector.bodies.join('\n');
    for (const secret of [RPC_SECRET, database.url, chain.contracts.staking.slice(2)]) {
      expect({ secret, sent: sent.includes(secret) }).toEqual({ secret, sent: false });
    }
  });
});
