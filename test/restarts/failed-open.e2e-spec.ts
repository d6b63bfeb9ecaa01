/** A console whose database takes connections and refuses the first statements. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase } from '#libs/testing/database';
import { compileCache } from '#libs/testing/programs';
import { TcpLink } from '#libs/testing/wire';

const ATTEMPTS = 5;

let program: ChildProcess | undefined;
afterEach(() => {
  program?.kill('SIGKILL');
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
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    program = spawn(process.execPath, ['dist/apps/console/src/main.js'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...compileCache(),
        DATABASE_URL: url.href,
        CONSOLE_PORT: String(port),
        CONSOLE_ORIGIN: origin,
        LISTEN_HOST: '127.0.0.1',
      },
    });
    const lines: string[] = [];
    if (program.stdout === null) throw new Error('The output is piped');
    createInterface(program.stdout).on('line', (line) => lines.push(line));
    await eventually(() => lines.some((line) => line.includes('Serving')));

    await link.open();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { status } = await fetch(`${origin}/api/auth/wallet/nonce`, {
        method: 'POST',
        headers: { origin, 'sec-fetch-site': 'same-origin', 'x-csrf-token': 'none' },
      });
      expect(status).toBe(500);
    }
    const refused = (): string[] =>
      lines.filter((line) => line.includes('permission denied for function version'));
    await eventually(() => refused().length >= ATTEMPTS);
    expect(refused()).toHaveLength(ATTEMPTS);
    const text = `SELECT FROM pg_stat_activity WHERE usename = 'test_console' AND datname = current_database()`;
    await eventually(async () => (await owner.query({ text })).length === 0);

    program.kill('SIGTERM');
    const [code] = (await once(program, 'exit')) as [number];
    expect(code).toBe(0);
  } finally {
    await link.close();
    await test.drop();
  }
});
