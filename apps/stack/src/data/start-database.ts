/** The stack's database, with the schema up to date and a user for each program. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  createDatabase,
  type LoginUrls,
  migrate,
  prepareLogins,
  PROGRAMS,
  scramVerifier,
} from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';
import { DatabaseUrl } from '#libs/platform';
import { keepRunning, type StackContext } from '../context.js';
import { type DatabaseUsers } from './stack-file.js';

export interface UserUrls extends Required<LoginUrls> {
  /** URL of the reference partner's own database; it has no access to ours. */
  readonly game: string;
}

interface StackDatabase {
  /** URLs of the programs' users. The owner's URL is used at the start only. */
  readonly urls: UserUrls;
  /** Identifies the database, without credentials. */
  readonly name: string;
}

/** The database of DATABASE_URL, else an embedded one. */
export async function startDatabase(context: StackContext): Promise<StackDatabase> {
  const { file, screen, settings } = context;
  const { databaseUrl } = settings;
  const { url, name } =
    databaseUrl === undefined
      ? await embedded(context)
      : { url: databaseUrl, name: DatabaseUrl.parse(databaseUrl).place };
  const applied = await migrate(url);
  if (databaseUrl !== undefined) screen.step('database', `the one of DATABASE_URL (${name})`);
  if (applied.length > 0) screen.step('database', 'has its schema');
  const users = withAllPasswords(file.content.databaseUsers);
  await file.set({ databaseUsers: users });
  return { urls: await prepareUsers(url, users), name };
}

async function embedded(context: StackContext) {
  const { paths, file, screen, signal } = context;
  const password = file.content.embeddedPassword;
  if (password === undefined) screen.step('database', 'is being set up (embedded PostgreSQL)');
  const server = await EmbeddedPostgres.start({
    directory: join(process.cwd(), paths.postgres),
    logFile: join(paths.logs, 'postgres.log'),
    password,
    signal,
    onCreated: (embeddedPassword) => file.set({ embeddedPassword }),
  });
  keepRunning(context, {
    name: 'PostgreSQL',
    stop: () => server.stop(),
    ended: server.process.ended,
    report: async () => {
      const how = await server.process.ended;
      const tail = await server.process.tail();
      return [`PostgreSQL ended with ${how}. The end of its log:`, ...tail].join('\n');
    },
  });
  screen.step('database', `embedded PostgreSQL on 127.0.0.1:${server.port}`);
  return { url: server.url, name: 'embedded' };
}

const GAME = 'game';

/** The stored passwords, and new ones for programs that an older stack did not know. */
function withAllPasswords(users?: DatabaseUsers): DatabaseUsers {
  const mint = (bytes: number): string => randomBytes(bytes).toString('hex');
  const minted = Object.fromEntries([...PROGRAMS, GAME].map((name) => [name, mint(24)]));
  return { suffix: users?.suffix ?? mint(3), passwords: { ...minted, ...users?.passwords } };
}

/**
 * Makes a user for each program, and a database for the game, where they are missing.
 * @param url of the owner of the schema, with the right to create roles and databases
 * @throws RolesRefusedError, DatabaseRefusedError where the owner lacks this right
 */
async function prepareUsers(url: string, users: DatabaseUsers): Promise<UserUrls> {
  const urls = {
    api: urlOf(url, 'api', users),
    indexer: urlOf(url, 'indexer', users),
    redemption: urlOf(url, 'redemption', users),
    cli: urlOf(url, 'cli', users),
    console: urlOf(url, 'console', users),
    portal: urlOf(url, 'portal', users),
  };
  await prepareLogins(url, urls);
  const game = urlOf(url, GAME, users, userOf(GAME, users));
  await prepareGame(url, game);
  return { ...urls, game };
}

/**
 * Makes the game's user, which owns the game's database and has no right in ours. The password of an existing user is
 * set again.
 * @param owner with the right to create roles and databases
 * @param game the URL that the game will be given
 */
export async function prepareGame(owner: string, game: string): Promise<void> {
  const login = DatabaseUrl.parse(game);
  const [user, name] = [quoted(login.user), quoted(login.database)];
  const database = await createDatabase({
    url: owner,
    applicationName: 'lowmark stack',
    poolSize: 1,
    schema: 'any',
  });
  const isThere = async (text: string, value: string): Promise<boolean> =>
    (await database.query({ text }, [value])).length > 0;
  try {
    const verifier = `LOGIN PASSWORD '${scramVerifier(login.password)}'`;
    const verb = (await isThere('SELECT FROM pg_roles WHERE rolname = $1', login.user))
      ? 'ALTER'
      : 'CREATE';
    await database.query({ text: `${verb} ROLE ${user} ${verifier}` });
    if (await isThere('SELECT FROM pg_database WHERE datname = $1', login.database)) return;
    await database.query({ text: `GRANT ${user} TO CURRENT_USER` });
    await database.query({ text: `CREATE DATABASE ${name} OWNER ${user}` });
  } finally {
    await database.close();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function userOf(program: string, { suffix }: DatabaseUsers): string {
  return `lowmark_${program}_${suffix}`;
}

function urlOf(owner: string, program: string, users: DatabaseUsers, database?: string): string {
  const login = { user: userOf(program, users), password: users.passwords[program] ?? '' };
  return DatabaseUrl.parse(owner).as({ ...login, ...(database !== undefined && { database }) })
    .href;
}
