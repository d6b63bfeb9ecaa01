/**
 * Tests the maximum cost of a wrong price: the indexer, the redemption service and the cli with price sources that
 * return wrong prices. Needs a build.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseDecimal } from '#libs/domain';
import { freePort } from '#libs/devprocess';
import { SnapshotStore } from '#libs/db';
import { compileCache } from '#libs/testing/programs';
import {
  addPartner,
  aPlayer,
  errorOf,
  type Service,
  startService,
} from '../../apps/redemption/src/testing/redemption-harness.support.js';

const program = (app: string) => resolve(`dist/apps/${app}/src/main.js`);
const POINTS = 5_000;

/** The price that each source returns. */
const says = ['0.15', '0.15', '0.15'];
const servers: Server[] = [];
let service: Service;
let indexer: ChildProcess | undefined;

beforeAll(async () => {
  for (const place of says.keys()) {
    const server = createServer((_, response) => response.end(`{"usd":${says[place] ?? ''}}`));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
  }
  service = await startService();
  await addPartner(service, 'Arena', {
    bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
  });
});
afterEach(stopIndexer);
afterAll(async () => {
  for (const server of servers) server.close();
  await service.stop();
});

async function stopIndexer(): Promise<void> {
  if (indexer === undefined) return;
  const ended = once(indexer, 'exit');
  indexer.kill('SIGTERM');
  await ended;
  indexer = undefined;
}

/** Restarts the indexer with this number of sources, and waits for its first price reading. */
async function readPrice(sources: number): Promise<void> {
  await stopIndexer();
  const { chain } = service.bench;
  const port = await freePort();
  const urls = servers.slice(0, sources).map((server) => {
    const { port: at } = server.address() as AddressInfo;
    return `http:http://127.0.0.1:${at}#/usd`;
  });
  indexer = spawn(process.execPath, [program('indexer')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...compileCache(),
      DATABASE_URL: service.database.url,
      CHAIN_ID: String(chain.chainId),
      RPC_URLS: chain.url,
      STAKE_CONTRACT: chain.contracts.staking,
      STAKE_START_BLOCK: String(chain.contracts.startBlock),
      TOKEN_CONTRACT: chain.contracts.token,
      PRICE_SOURCE: urls.join(','),
      PRICE_BOUNDS_USD: '0.05..5',
      INDEXER_PORT: String(port),
      LISTEN_HOST: '127.0.0.1',
    },
  });
  const looked = /lowmark_price_readings_total\{result="\w+",app="indexer"\} [1-9]/;
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 100) {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
    if (answer !== undefined && looked.test(await answer.text())) return;
    await sleep(100);
  }
  throw new Error('the indexer did not look for a price');
}

async function cli(...args: string[]): Promise<string> {
  const env = { ...compileCache(), DATABASE_URL: service.database.url };
  return (await promisify(execFile)(process.execPath, [program('cli'), ...args], { env })).stdout;
}

/** Redeems 50 USD in points as a new player. @returns the tokens, or the refusal */
async function redeem(): Promise<unknown> {
  const player = await aPlayer(service);
  const answer = await player.redeem('Arena', POINTS);
  const { tokens } = answer.body as { tokens?: number };
  return answer.status === 201 ? tokens : errorOf(answer);
}

async function priceOfSnapshots(): Promise<string | undefined> {
  return (await new SnapshotStore(await service.database.open()).read())?.state.price?.usd;
}

const REFUSED = { status: 409, code: 'PRICE_UNAVAILABLE' };

describe('0.00015 for 0.15', () => {
  it('pays no 340,000 tokens for 50 USD: nothing is redeemed until an operator accepts a price', async () => {
    await readPrice(1);
    expect(await redeem()).toBe(340);
    says[0] = '0.00015';
    await readPrice(1);
    expect(await redeem()).toEqual(REFUSED);
    expect(await priceOfSnapshots()).toBeUndefined();
    expect(await cli('price', 'show')).toMatch(/^now +0\.00015 USD \(-99\.9 %\)/m);
    says[0] = '0.15';
    await readPrice(1);
    expect(await redeem()).toEqual(REFUSED);
    await expect(cli('price', 'accept', '0.00015')).rejects.toMatchObject({
      stderr: expect.stringContaining('PRICE_MOVED'),
    });
    await cli('price', 'accept', '0.15');
    expect(await redeem()).toEqual(REFUSED);
    await readPrice(1);
    expect(await redeem()).toBe(340);
    expect(await priceOfSnapshots()).toBe('0.15');
  });

  it('changes nothing where it is one source of three', async () => {
    says.fill('0.15');
    says[1] = '0.00015';
    await readPrice(3);
    expect(await redeem()).toBe(340);
  });

  it('is not believed where it is one source of two', async () => {
    says.fill('0.15');
    says[1] = '0.00015';
    await readPrice(2);
    // The earlier price stays valid until it is too old.
    expect(await redeem()).toBe(340);
    service.clock.set(Date.now() + 601_000);
    expect(await redeem()).toEqual({ status: 409, code: 'PRICE_STALE' });
  });
});

describe('a price that the indexer did not write', () => {
  it('is not redeemed at where it is out of the bounds of the redemption service', async () => {
    const bounded = await startService({ PRICE_BOUNDS_USD: '0.05..5' });
    try {
      await addPartner(bounded, 'Arena');
      const database = await bounded.database.open();
      const text = `INSERT INTO staking.price (observed_at, source, usd) VALUES ($1, 'x', 0.00015)`;
      await database.query({ text }, [new Date(bounded.clock.nowMs())]);
      const answers = [await (await aPlayer(bounded)).redeem('Arena', POINTS)];
      answers.push(await (await aPlayer(bounded)).redeem('Arena', POINTS));
      expect(answers.map(errorOf)).toEqual([REFUSED, REFUSED]);
      const alerts = bounded.logs.filter((line) => line.includes('price-out-of-bounds'));
      expect(alerts).toHaveLength(1);
      expect(alerts[0]).toContain('0.00015 USD is stored, which is below-minimum');
    } finally {
      await bounded.stop();
    }
  });
});
