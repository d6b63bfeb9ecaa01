/** A PostgreSQL with continuous backups: the parts of docker-compose.backup.yml without containers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { expect } from '@jest/globals';
import { ManagedProcess } from '#libs/devprocess';
import { EmbeddedPostgres, PostgresUser } from '#libs/devpostgres';
import { eventually } from '#libs/testing/clock';
import { postgresTools } from '../../libs/testing/src/jest/programs.mjs';
import { processTree, signalAll } from '../cluster/node-processes.js';

const MINUTES_MS = 120_000;
const SCRIPTS = resolve('deploy/pgbackrest');
/** The settings of docker-compose.backup.yml, with a short archive_timeout. */
const ARCHIVING = {
  archive_mode: 'on',
  archive_command: 'pgbackrest archive-push %p',
  archive_timeout: '5',
  fsync: 'off',
};

export interface Outcome {
  readonly code: number;
  readonly out: string;
  /** Messages of the scripts to the operator. */
  readonly err: string;
}

export class BackedUpServer {
  private postgres: EmbeddedPostgres | undefined;
  private password = '';
  private readonly started: ManagedProcess[] = [];

  private constructor(
    private readonly folder: string,
    private readonly user: PostgresUser,
    /** Folder of PostgreSQL's programs. */
    private readonly tools: string,
  ) {}

  /**
   * Starts the server with an empty database `lowmark`.
   * @param repository returns the lines of the operator's repository.conf; its argument is a folder that may hold the
   * repository
   */
  static async start(repository: (folder: string) => string): Promise<BackedUpServer> {
    const tools = postgresTools();
    if (tools === undefined) throw new Error('There is no PostgreSQL with its tools.');
    // The folder holds sockets, whose paths have a maximum length.
    const folder = await mkdtemp(join(tmpdir(), 'lmb-'));
    const user = await PostgresUser.for([join(folder, 'data'), SCRIPTS]);
    const server = new BackedUpServer(folder, user, tools);
    for (const name of ['', 'socket', 'repository', 'textfiles', 'drill', 'received', 'settings'])
      await server.own(name);
    await writeFile(
      join(folder, 'settings/repository.conf'),
      repository(server.path('repository')),
    );
    await server.resume();
    await server.ask('CREATE DATABASE lowmark', { PGDATABASE: 'postgres' });
    return server;
  }

  /** Connection string of the owner of database `lowmark`. */
  get url(): string {
    const url = new URL(this.postgres?.url ?? '');
    url.pathname = '/lowmark';
    return url.href;
  }

  /** A path in the server's folder. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Starts the stopped or killed server, and waits until it has finished recovery. */
  async resume(): Promise<void> {
    this.postgres = await EmbeddedPostgres.start({
      directory: this.path('data'),
      logFile: this.path('postgres.log'),
      ...(this.password !== '' && { password: this.password }),
      onCreated: (password) => Promise.resolve(void (this.password = password)),
      settings: { ...ARCHIVING, unix_socket_directories: this.path('socket') },
      programs: { initdb: join(this.tools, 'initdb'), postgres: join(this.tools, 'postgres') },
      environment: this.environment,
    });
  }

  async stop(): Promise<void> {
    await this.postgres?.stop();
  }

  /** Kills the server with all its processes at once. */
  async kill(): Promise<void> {
    const process = this.postgres?.process;
    if (process?.pid !== undefined) signalAll(await processTree(process.pid), 'SIGKILL');
    await process?.ended;
  }

  /** Replaces the data folder of the killed server with an empty one, as after the loss of a disk. */
  async loseDisk(): Promise<void> {
    await rm(this.path('data'), { recursive: true });
    await this.own('data', 0o700);
  }

  /** Runs a statement with psql. @returns one line per row @throws Error with psql's message */
  async ask(statement: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
    const words = ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', statement];
    const { code, out, err } = await this.run(join(this.tools, 'psql'), words, environment);
    if (code !== 0) throw new Error(err);
    return out.trim();
  }

  /** Runs a script of deploy/pgbackrest with arguments, as ./lowmark does in a container. */
  script(name: string, ...words: readonly string[]): Promise<Outcome> {
    return this.run(join(SCRIPTS, name), words);
  }

  /** Creates the bucket, which exists beforehand in real object stores. */
  async makeBucket(): Promise<void> {
    const { code, err } = await this.run('pgbackrest', ['--repo=1', 'repo-create']);
    if (code !== 0) throw new Error(err);
  }

  async fullBackups(): Promise<string[]> {
    const { out } = await this.script('backups.sh', 'list');
    return [...out.matchAll(/full backup: (\S+)/g)].map(([, label = '']) => label);
  }

  /** Runs the schedule until it has made a full backup that is not in `known`. */
  async nextFull(known: readonly string[]): Promise<string> {
    const schedule = await this.schedule();
    let found: string | undefined;
    await eventually(
      async () => {
        found = (await this.fullBackups()).find((label) => !known.includes(label));
        return found !== undefined;
      },
      { withinMs: MINUTES_MS, what: 'a full backup', everyMs: 500 },
    );
    await eventually(() => existsSync(this.path('textfiles/backup.prom')));
    await schedule.stop();
    return found ?? '';
  }

  /** Brings the stopped server back from the repository. @returns the messages to the operator */
  async restore(...target: readonly string[]): Promise<string> {
    const files = await this.script('restore.sh', 'files', ...target);
    expect(files).toMatchObject({ code: 0, err: expect.stringContaining('the files are back') });
    await this.resume();
    const finish = await this.script('restore.sh', 'finish');
    expect(finish).toMatchObject({ code: 0, err: expect.stringContaining('restored. The last') });
    return files.err;
  }

  /** Runs `backups.sh schedule`, as the container `backups` does. */
  schedule(): Promise<ManagedProcess> {
    return this.background(join(SCRIPTS, 'backups.sh'), ['schedule']);
  }

  /** Runs pg_receivewal as the handbook describes it for a second machine. */
  receive(options: readonly string[]): Promise<ManagedProcess> {
    return this.background(join(this.tools, 'pg_receivewal'), options);
  }

  async remove(): Promise<void> {
    for (const process of this.started) await process.stop();
    await this.postgres?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async background(program: string, words: readonly string[]): Promise<ManagedProcess> {
    const process = await ManagedProcess.start({
      ...this.user.command(program, words),
      environment: this.environment,
      logFile: this.path(`background-${this.started.length}.log`),
    });
    this.started.push(process);
    return process;
  }

  private async run(
    program: string,
    words: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ): Promise<Outcome> {
    const { command, args, user } = this.user.command(program, words);
    const env = { ...this.environment, ...environment };
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...user });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, out, err };
  }

  /** The environment variables of the containers, with the folders of this server. */
  private get environment(): NodeJS.ProcessEnv {
    return {
      PATH: [this.tools, process.env['PATH']].join(delimiter),
      LANG: 'C.UTF-8',
      PGHOST: this.path('socket'),
      PGUSER: 'lowmark',
      PGDATABASE: 'lowmark',
      PGPASSWORD: this.password,
      PGDATA: this.path('data'),
      KEPT_DIR: this.path('repository/kept'),
      WAL_DIR: this.path('received'),
      TEXTFILES: this.path('textfiles'),
      DRILL_DIR: this.path('drill'),
      BACKUP_LOOK_SECONDS: '1',
      PGBACKREST_STANZA: 'lowmark',
      PGBACKREST_CONFIG: join(SCRIPTS, 'pgbackrest.conf'),
      PGBACKREST_CONFIG_INCLUDE_PATH: this.path('settings'),
      PGBACKREST_LOCK_PATH: this.path('lock'),
      PGBACKREST_PG1_PATH: this.path('data'),
      PGBACKREST_PG1_SOCKET_PATH: this.path('socket'),
      ...(this.postgres && {
        PGPORT: String(this.postgres.port),
        PGBACKREST_PG1_PORT: String(this.postgres.port),
      }),
    };
  }

  private async own(name: string, mode = 0o755): Promise<void> {
    const path = this.path(name);
    await mkdir(path, { recursive: true, mode });
    if (this.user.ids !== undefined) await chown(path, this.user.ids.uid, this.user.ids.gid);
  }
}
