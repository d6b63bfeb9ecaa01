/**
 * The number of requests that two replicas of the API admit together, compared with one partner's limit. The client
 * asks as often as this machine can: first with Redis all the time, then with a Redis that is killed twice and restarts
 * empty. The replicas and Redis run as separate programs.
 *
 *   npm run bench -- limits [--rate 100] [--burst 100] [--seconds 60] [--callers 8] [--write-docs yes]
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, type TestRedis } from '#libs/testing';
import { seedIndex, seedPartner } from './api/seed.js';
import { type Listening, startApi } from './support/api-program.js';
import { BenchServer } from './support/bench-database.js';
import { count, fixed } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { say } from './support/progress.js';
import { report, REPORT_OPTIONS } from './support/report.js';
import { walletAt } from './support/random.js';

const LOGS = join('.data', 'bench');
/** Wait after the start of the replicas: without Redis, a replica that has only just started grants no burst. */
const SETTLE_MS = 5000;

const options = readOptions({
  rate: '100',
  burst: '100',
  seconds: '60',
  callers: '8',
  ...REPORT_OPTIONS,
});
const policy = { rate: numberOf(options.rate), burst: numberOf(options.burst) };

interface Admitted {
  readonly seconds: number;
  readonly answers: number;
  readonly admitted: number;
  /** The maximum, over all spans of time, of the requests admitted in a span minus the rate times its length. */
  readonly mostAtOnce: number;
  /** Answers with a status other than 200 and 429. */
  readonly others: number;
}

async function main(): Promise<void> {
  await mkdir(LOGS, { recursive: true });
  const server = await BenchServer.start();
  try {
    await server.withDatabase(async (url) => {
      await seedIndex(url, { wallets: 2, changes: 1000, days: 35, nowMs: Date.now() });
      await measure(url);
    });
  } finally {
    await server.stop();
  }
}

async function measure(databaseUrl: string): Promise<void> {
  const secretsKey = randomBytes(32).toString('base64');
  const redis = await startRedis();
  const replicas: Listening[] = [];
  try {
    for (const name of ['a', 'b']) {
      const logFile = join(LOGS, `limits-${name}.log`);
      replicas.push(await startApi({ databaseUrl, secretsKey, redisUrl: redis.url, logFile }));
    }
    await sleep(SETTLE_MS);
    const ms = numberOf(options.seconds) * 1000;
    const ask = async (name: string, whileAsking: () => Promise<void>): Promise<string[]> => {
      say(`  ${name}`);
      const { apiKey } = await seedPartner(databaseUrl, secretsKey, { name, ...policy });
      const [found] = await Promise.all([hammer(replicas, apiKey, ms), whileAsking()]);
      return row(name, found);
    };
    const head = ['s', 'answers', 'admitted', 'allowed', 'of it', 'at once', 'neither 200 nor 429'];
    const rows = [
      await ask('with Redis', () => Promise.resolve()),
      await ask('Redis killed twice', () => killTwice(redis, ms)),
    ];
    await report(options, 'limits', { tables: [{ head: ['two replicas', ...head], rows }] });
    const { rate, burst } = policy;
    console.log(
      `allowed: ${burst} + ${rate} a second; at once: the most over any time beyond ${rate} a second, which is ${burst} with Redis and ${2 * burst} at most without`,
    );
  } finally {
    for (const { program } of replicas) await program.stop();
    await redis.stop();
  }
}

/** Keeps Redis down from 10 % to 50 %, and from 65 % to 75 % of the time. */
async function killTwice(redis: TestRedis, ms: number): Promise<void> {
  for (const [beforeMs, awayMs] of [
    [0.1 * ms, 0.4 * ms],
    [0.15 * ms, 0.1 * ms],
  ] as const) {
    await sleep(beforeMs);
    await redis.kill();
    await sleep(awayMs);
    await redis.restart();
  }
}

/** Asks both replicas for one wallet, with several callers per replica and without a pause. */
async function hammer(
  replicas: readonly Listening[],
  apiKey: string,
  ms: number,
): Promise<Admitted> {
  const [startMs, admittedAt] = [performance.now(), [] as number[]];
  let [answers, others] = [0, 0];
  const elapsedMs = (): number => performance.now() - startMs;
  const call = async (port: number): Promise<void> => {
    const url = `http://127.0.0.1:${port}/api/staking/snapshots?walletAddress=${walletAt(1)}`;
    while (elapsedMs() < ms) {
      const answer = await fetch(url, { headers: { 'x-api-key': apiKey } });
      await answer.arrayBuffer();
      answers += 1;
      if (answer.status === 200) admittedAt.push(elapsedMs() / 1000);
      else if (answer.status !== 429) others += 1;
    }
  };
  const callers = Array.from({ length: numberOf(options.callers) });
  await Promise.all(replicas.flatMap(({ port }) => callers.map(() => call(port))));
  const seconds = elapsedMs() / 1000;
  return {
    seconds,
    answers,
    admitted: admittedAt.length,
    mostAtOnce: mostAtOnce(admittedAt),
    others,
  };
}

function mostAtOnce(admittedAt: readonly number[]): number {
  let [least, most] = [Infinity, 0];
  for (const [before, seconds] of admittedAt.toSorted((a, b) => a - b).entries()) {
    least = Math.min(least, before - policy.rate * seconds);
    most = Math.max(most, before + 1 - policy.rate * seconds - least);
  }
  return most;
}

function row(name: string, { seconds, answers, admitted, mostAtOnce, others }: Admitted): string[] {
  const allowed = policy.burst + policy.rate * seconds;
  return [
    name,
    fixed(seconds, 1),
    count(answers),
    count(admitted),
    count(allowed),
    fixed(admitted / allowed, 4),
    count(mostAtOnce),
    count(others),
  ];
}

await main();
