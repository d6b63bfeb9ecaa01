/**
 * A console without file descriptors, and one whose database takes connections and refuses the first statements. Needs a
 * build.
 */
import { execFileSync } from 'node:child_process';
import { afterEach, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase } from '#libs/testing/database';
import { TcpLink } from '#libs/testing/wire';
import { ServiceProgram } from './service-program.js';

const ATTEMPTS = 5;

let program: AnyConsole | undefined;
afterEach(() => program?.kill());

class AnyConsole extends ServiceProgram {
  /** Resolves when the console serves its pages, for which it needs no database. */
  static async start(databaseUrl: string): Promise<AnyConsole> {
    const port = await freePort();
    const started = new AnyConsole('console', port, {
      DATABASE_URL: databaseUrl,
      CONSOLE_PORT: String(port),
      CONSOLE_ORIGIN: `http://127.0.0.1:${port}`,
      LISTEN_HOST: '127.0.0.1',
    });
    program = started;
    await eventually(() => started.printed.includes('Serving'));
    return started;
  }
}

/** Sets the soft limit of a process that runs. */
function limitDescriptors(pid: number | undefined, soft: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:`]);
}

/** @returns the hard limit of a process */
function hardLimitOf(pid: number | undefined): string {
  const columns = ['--raw', '--noheadings', '--output', 'HARD', '--nofile'];
  return execFileSync('prlimit', ['--pid', String(pid), ...columns], { encoding: 'utf8' }).trim();
}

it('says once that no file descriptors are left, and that there are some again, and ends as ever', async () => {
  const started = await AnyConsole.start('postgresql://a:b@127.0.0.1:1/c');
  const hard = hardLimitOf(started.pid);
  limitDescriptors(started.pid, '3');
  await eventually(() => started.printed.includes('No file descriptors are left'));
  limitDescriptors(started.pid, hard);
  await eventually(() => started.printed.includes('There are file descriptors again'));
  expect((await fetch(`${started.url}/health/live`)).status).toBe(200);
  expect(await started.terminate()).toBe(0);
});

it('keeps no connection of a failed attempt, logs each, and ends when it is told to', async () => {
  const test = await createTestDatabase();
  const owner = await test.open();
  await owner.query({ text: 'REVOKE EXECUTE ON FUNCTION version() FROM PUBLIC' });
  const url = new URL(test.urlAs('console'));
  const link = new TcpLink({ host: url.hostname, port: Number(url.port) });
  await link.open();
  url.port = String(link.port);
  await link.close();
  try {
    const started = await AnyConsole.start(url.href);
    await link.open();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { status } = await fetch(`${started.url}/api/auth/wallet/nonce`, {
        method: 'POST',
        headers: { origin: started.url, 'sec-fetch-site': 'same-origin', 'x-csrf-token': 'none' },
      });
      expect(status).toBe(500);
    }
    const refused = (): string[] =>
      started.printed.match(/permission denied for function version.*/g) ?? [];
    await eventually(() => refused().length >= ATTEMPTS);
    expect(refused()).toHaveLength(ATTEMPTS);
    const text = `SELECT FROM pg_stat_activity WHERE usename = 'test_console' AND datname = current_database()`;
    await eventually(async () => (await owner.query({ text })).length === 0);
    expect(await started.terminate()).toBe(0);
  } finally {
    await link.close();
    await test.drop();
  }
});
