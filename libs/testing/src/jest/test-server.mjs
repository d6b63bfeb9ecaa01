/** The PostgreSQL server of a test run, with the migrated template database that each test file clones. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, migrate, prepareLogins, PROGRAMS } from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';

const TEMPLATE = 'lowmark_template';

const SETTINGS = {
  max_connections: '150',
  fsync: 'off',
  full_page_writes: 'off',
  // Tests last seconds. A background job at a random moment would only make their timing vary.
  autovacuum: 'off',
  // Each connection of a test would hash its password this many times.
  scram_iterations: '1',
};

let running;

/** @returns the connection string of the server */
export async function startTestServer() {
  const folder = await mkdtemp(join(tmpdir(), 'lowmark-test-'));
  const server = await EmbeddedPostgres.start({
    directory: join(folder, 'data'),
    logFile: join(folder, 'postgres.log'),
    initdbFlags: ['--no-sync', '--set=scram_iterations=1'],
    settings: SETTINGS,
  });
  running = { server, folder };
  try {
    await prepareTemplate(server.url);
  } catch (error) {
    await stopTestServer();
    throw error;
  }
  return server.url;
}

export async function stopTestServer() {
  if (running === undefined) return;
  const { server, folder } = running;
  running = undefined;
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function prepareTemplate(url) {
  const database = await createDatabase({ url, applicationName: 'test setup', poolSize: 1 });
  await database.query({ text: `CREATE DATABASE ${TEMPLATE}` });
  await database.close();
  const template = new URL(url);
  template.pathname = `/${TEMPLATE}`;
  await migrate(template.href);
  // Database users belong to the whole server, so all test databases share the users of the programs.
  const logins = PROGRAMS.map((program) => {
    const login = new URL(template);
    [login.username, login.password] = [`test_${program}`, `test_${program}`];
    return [program, login.href];
  });
  await prepareLogins(template.href, Object.fromEntries(logins));
}
