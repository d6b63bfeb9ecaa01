import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '#libs/db';
import { EmbeddedPostgres } from './embedded-postgres.js';

const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];

async function folder(mode: number): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'lowmark-postgres-'));
  await chmod(path, mode);
  folders.push(path);
  return path;
}

async function start(at: string, password?: string): Promise<EmbeddedPostgres> {
  const server = await EmbeddedPostgres.start({
    directory: join(at, 'data'),
    logFile: join(at, 'postgres.log'),
    password,
    initdbFlags: ['--no-sync'],
    settings: { fsync: 'off' },
  });
  servers.push(server);
  return server;
}

async function ask<T extends object>(url: string, text: string): Promise<T[]> {
  const database = await createDatabase({ url, applicationName: 'test', poolSize: 1 });
  try {
    return await database.query<T>({ name: 'ask', text });
  } finally {
    await database.close();
  }
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await Promise.all(folders.splice(0).map((path) => rm(path, { recursive: true })));
});

describe('the embedded PostgreSQL', () => {
  it('keeps its data over a restart, on loopback only', async () => {
    const at = await folder(0o755);
    const first = await start(at);
    expect(new URL(first.url).hostname).toBe('127.0.0.1');
    await ask(first.url, 'CREATE TABLE public.kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await start(at, new URL(first.url).password);
    await expect(ask(second.url, 'SELECT answer FROM public.kept')).resolves.toEqual([
      { answer: 42 },
    ]);
    await expect(ask(second.url, 'SHOW listen_addresses')).resolves.toEqual([
      { listen_addresses: '127.0.0.1' },
    ]);
  });

  it('runs where only we may enter, even as root', async () => {
    const at = await folder(0o700);
    const server = await start(at);
    await expect(ask(server.url, 'SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
    expect((await stat(at)).mode & 0o777).toBe(0o700);
  });

  it('asks for the password of a cluster that is there', async () => {
    const at = await folder(0o755);
    await (await start(at)).stop();
    await expect(start(at)).rejects.toMatchObject({ code: 'POSTGRES_PASSWORD_LOST' });
  });

  it('says why it did not start', async () => {
    const at = await folder(0o755);
    const server = await start(at);
    await server.stop();
    await writeFile(join(at, 'data', 'postgresql.conf'), 'max_connections = many\n');
    await expect(start(at, new URL(server.url).password)).rejects.toMatchObject({
      code: 'POSTGRES_FAILED',
      message: expect.stringContaining('max_connections'),
    });
  });

  it('ends with the process that started it, and starts again after that', async () => {
    const at = await folder(0o755);
    const script = `
      import { EmbeddedPostgres } from '#libs/devpostgres';
      const server = await EmbeddedPostgres.start(${JSON.stringify({
        directory: join(at, 'data'),
        logFile: join(at, 'postgres.log'),
        initdbFlags: ['--no-sync'],
      })});
      console.log(server.url);
      setInterval(() => {}, 1_000);
    `;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const printed = once(parent.stdout, 'data').then(([data]) => String(data).trim());
    const url = await Promise.race([printed, once(parent, 'exit').then(() => '')]);
    const { port, password } = new URL(url);
    parent.kill('SIGKILL');
    // The start waits until the first server has ended by itself.
    await start(at, password);
    await expect(isListening(Number(port))).resolves.toBe(false);
  });
});

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });
}
