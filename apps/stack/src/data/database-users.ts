import { randomBytes } from 'node:crypto';
import { createDatabase, type LoginUrls, prepareLogins, PROGRAMS, scramVerifier } from '#libs/db';

/** The users that the stack makes in its database, kept for later starts. */
export interface DatabaseUsers {
  /** Users belong to the whole server, where another stack may have its own. */
  readonly suffix: string;
  readonly passwords: Readonly<Record<string, string>>;
}

export interface UserUrls extends Required<LoginUrls> {
  /** The reference partner's own database: a partner has nothing of ours. */
  readonly game: string;
}

const GAME = 'game';

export function mintDatabaseUsers(): DatabaseUsers {
  const mint = (bytes: number): string => randomBytes(bytes).toString('hex');
  return {
    suffix: mint(3),
    passwords: Object.fromEntries([...PROGRAMS, GAME].map((name) => [name, mint(24)])),
  };
}

/**
 * Makes a user for each program, and a database for the game, where they are missing.
 * @param url of the owner of the schema, with the right to create roles and databases
 * @throws RolesRefusedError, DatabaseRefusedError where it may not
 */
export async function prepareUsers(url: string, users: DatabaseUsers): Promise<UserUrls> {
  const urls = {
    api: urlOf(url, 'api', users),
    indexer: urlOf(url, 'indexer', users),
    redemption: urlOf(url, 'redemption', users),
    cli: urlOf(url, 'cli', users),
  };
  await prepareLogins(url, urls);
  const game = new URL(urlOf(url, GAME, users));
  game.pathname = `/${game.username}`;
  await prepareGame(url, game.href);
  return { ...urls, game: game.href };
}

/**
 * The game's user owns its database, and has no right in ours. The password of a user who is there is set anew.
 * @param owner with the right to create roles and databases
 * @param game the URL that the game will be given
 */
export async function prepareGame(owner: string, game: string): Promise<void> {
  const { username, password, pathname } = new URL(game);
  const [user, name] = [quoted(username), quoted(pathname.slice(1))];
  const database = await createDatabase({
    url: owner,
    applicationName: 'lowmark stack',
    poolSize: 1,
    schema: 'any',
  });
  const isThere = async (text: string, value: string): Promise<boolean> =>
    (await database.query({ text }, [value])).length > 0;
  try {
    const verifier = `LOGIN PASSWORD '${scramVerifier(decodeURIComponent(password))}'`;
    const verb = (await isThere('SELECT FROM pg_roles WHERE rolname = $1', username))
      ? 'ALTER'
      : 'CREATE';
    await database.query({ text: `${verb} ROLE ${user} ${verifier}` });
    if (await isThere('SELECT FROM pg_database WHERE datname = $1', pathname.slice(1))) return;
    await database.query({ text: `GRANT ${user} TO CURRENT_USER` });
    await database.query({ text: `CREATE DATABASE ${name} OWNER ${user}` });
  } finally {
    await database.close();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function urlOf(owner: string, program: string, { suffix, passwords }: DatabaseUsers): string {
  const url = new URL(owner);
  url.username = `lowmark_${program}_${suffix}`;
  url.password = passwords[program] ?? '';
  return url.href;
}
