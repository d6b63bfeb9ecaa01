import { join } from 'node:path';
import { migrate } from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';
import { type StackContext } from '../context.js';
import { mintDatabaseUsers, prepareUsers, type UserUrls } from '../data/database-users.js';

export interface StackDatabase {
  /** None is the owner's: that one is used at the start only. */
  readonly urls: UserUrls;
  /** Tells one database from another, without credentials. */
  readonly name: string;
}

/** The database of DATABASE_URL, else an embedded one; with the schema up to date, and a user for each program. */
export async function startDatabase(context: StackContext): Promise<StackDatabase> {
  const { databaseUrl } = context.settings;
  const { url, name } = databaseUrl === undefined ? await embedded(context) : external(databaseUrl);
  const applied = await migrate(url);
  if (databaseUrl !== undefined) {
    context.screen.step('database', `the one of DATABASE_URL (${name})`);
  }
  if (applied.length > 0) context.screen.step('database', 'has its schema');
  const { file } = context;
  const users = file.content.databaseUsers ?? mintDatabaseUsers();
  await file.set({ databaseUsers: users });
  return { urls: await prepareUsers(url, users), name };
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

function external(url: string) {
  const { host, pathname } = new URL(url);
  return { url, name: host + pathname };
}
