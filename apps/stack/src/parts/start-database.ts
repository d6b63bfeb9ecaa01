import { join } from 'node:path';
import { migrate } from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';
import { type StackContext } from '../context.js';

export interface StackDatabase {
  readonly url: string;
  /** Tells one database from another, without credentials. */
  readonly name: string;
}

/** The database of DATABASE_URL, else an embedded one; with the schema up to date. */
export async function startDatabase(context: StackContext): Promise<StackDatabase> {
  const { databaseUrl } = context.settings;
  const database = databaseUrl === undefined ? await embedded(context) : external(databaseUrl);
  const applied = await migrate(database.url);
  if (databaseUrl !== undefined) {
    context.screen.step('database', `the one of DATABASE_URL (${database.name})`);
  }
  if (applied.length > 0) context.screen.step('database', 'has its schema');
  return database;
}

async function embedded({ paths, file, closers, screen, died, signal }: StackContext) {
  const password = file.content.embeddedPassword;
  if (password === undefined) screen.step('database', 'is being set up (embedded PostgreSQL)');
  const server = await EmbeddedPostgres.start({
    directory: join(process.cwd(), paths.postgres),
    logFile: join(paths.logs, 'postgres.log'),
    password,
    signal,
    onCreated: (embeddedPassword) => file.set({ embeddedPassword }),
  });
  let stopping = false;
  closers.add('PostgreSQL', () => {
    stopping = true;
    return server.stop();
  });
  void server.process.ended.then(async (how) => {
    if (stopping) return;
    const tail = await server.process.tail();
    died([`PostgreSQL ended with ${how}. The end of its log:`, ...tail].join('\n'));
  });
  screen.step('database', `embedded PostgreSQL on 127.0.0.1:${server.port}`);
  return { url: server.url, name: 'embedded' };
}

function external(url: string): StackDatabase {
  const { host, pathname } = new URL(url);
  return { url, name: host + pathname };
}
