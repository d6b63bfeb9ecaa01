import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { PermanentError } from '#libs/domain';

const run = promisify(execFile);
const NAME = 'postgres';
/** Capabilities that let a process of another user enter directories that only root may enter. */
const CAPABILITIES = '+dac_override,+dac_read_search';

/** A command line, and the user to start it as. */
export interface UserCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly user?: { readonly uid: number; readonly gid: number };
}

/**
 * Runs PostgreSQL's programs, which refuse to run as root: where this process is root, they run as the user `postgres`,
 * which is created where it is missing.
 */
export class PostgresUser {
  private constructor(
    readonly ids: { readonly uid: number; readonly gid: number } | undefined,
    private readonly wrapper: readonly string[] | undefined,
  ) {}

  /**
   * @param paths that the user must be able to reach
   * @throws PermanentError where the user cannot reach them: a clone in a directory that only root may enter, on a
   * machine without `setpriv`
   */
  static async for(paths: readonly string[]): Promise<PostgresUser> {
    if (userInfo().uid !== 0) return new PostgresUser(undefined, undefined);
    const ids = (await idsOf(NAME)) ?? (await createUser());
    const closed = await closedParent(paths);
    if (closed === undefined) return new PostgresUser(ids, undefined);
    const wrapper = [
      'setpriv',
      ...[`--reuid=${ids.uid}`, `--regid=${ids.gid}`, '--clear-groups'],
      ...[`--inh-caps=${CAPABILITIES}`, `--ambient-caps=${CAPABILITIES}`, '--'],
    ];
    try {
      await run('setpriv', [...wrapper.slice(1), 'true']);
    } catch (cause) {
      throw new PermanentError(
        'POSTGRES_UNREACHABLE',
        `PostgreSQL does not run as root, and the user "${NAME}" cannot enter ${closed}. Clone to a directory that everybody may enter (for example under /srv), start as an ordinary user, or set DATABASE_URL.`,
        { cause },
      );
    }
    return new PostgresUser(ids, wrapper);
  }

  command(program: string, args: readonly string[]): UserCommand {
    const [command, ...before] = this.wrapper ?? [];
    if (command !== undefined) return { command, args: [...before, program, ...args] };
    return { command: program, args, ...(this.ids && { user: this.ids }) };
  }
}

async function idsOf(name: string): Promise<{ uid: number; gid: number } | undefined> {
  const id = async (flag: string) => Number((await run('id', [flag, name])).stdout);
  try {
    return { uid: await id('-u'), gid: await id('-g') };
  } catch {
    // `id` fails for a single reason: the user does not exist.
    return undefined;
  }
}

async function createUser(): Promise<{ uid: number; gid: number }> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', NAME]);
  } catch (error) {
    // Another start may have created the user at the same time.
    const ids = await idsOf(NAME);
    if (ids !== undefined) return ids;
    throw new PermanentError(
      'POSTGRES_USER_MISSING',
      `PostgreSQL does not run as root, and the user "${NAME}" could not be made. Start as an ordinary user, or set DATABASE_URL.`,
      { cause: error },
    );
  }
  const ids = await idsOf(NAME);
  if (ids === undefined) throw new Error(`the user ${NAME} was made and is not there`);
  return ids;
}

/** The first directory above the paths that other users may not enter. */
async function closedParent(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    for (let parent = dirname(path); parent !== dirname(parent); parent = dirname(parent)) {
      if (((await stat(parent)).mode & 0o001) === 0) return parent;
    }
  }
  return undefined;
}
