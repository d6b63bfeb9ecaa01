/** A PostgreSQL with continuous backups: what docker-compose.backup.yml puts together, without containers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { ManagedProcess } from '#libs/devprocess';
import { EmbeddedPostgres, PostgresUser } from '#libs/devpostgres';
import { postgresTools } from '../../libs/testing/src/jest/postgres-tools.mjs';
import { processTree, signalAll } from '../cluster/node-processes.js';

const SCRIPTS = resolve('deploy/pgbackrest');
/** As docker-compose.backup.yml sets it; archive_timeout is short. */
const ARCHIVING = {
  archive_mode: 'on',
  archive_command: 'pgbackrest archive-push %p',
  archive_timeout: '5',
  fsync: 'off',
};

export interface Outcome {
  readonly code: number;
  readonly out: string;
  /** What the scripts tell the operator. */
  readonly err: string;
}

export class BackedUpServer {
  private postgres: EmbeddedPostgres | undefined;
  private password = '';
  private readonly started: ManagedProcess[] = [];

  private constructor(
    private readonly folder: string,
    private readonly user: PostgresUser,
    /** Of PostgreSQL's programs. */
    private readonly tools: string,
  ) {}

  /**
   * Started, with an empty database `lowmark`.
   * @param repository the lines of the operator's repository.conf; is told the path of a folder that may be the repository
   */
  static async start(repository: (folder: string) => string): Promise<BackedUpServer> {
    const tools = postgresTools();
    if (tools === undefined) throw new Error('There is no PostgreSQL with its tools.');
    // Sockets lie below it, whose paths are short.
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

  /** Of the owner of database `lowmark`. */
  get url(): string {
    const url = new URL(this.postgres?.url ?? '');
    url.pathname = '/lowmark';
    return url.href;
  }

  /** A path in its folder. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Starts the server that was stopped or killed; ends when it has come out of recovery. */
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

  /** The server with all its processes, at once. */
  async kill(): Promise<void> {
    const process = this.postgres?.process;
    if (process?.pid !== undefined) signalAll(await processTree(process.pid), 'SIGKILL');
    await process?.ended;
  }

  /** The disk of the killed server is lost: an empty one is in its place. */
  async loseDisk(): Promise<void> {
    await rm(this.path('data'), { recursive: true });
    await this.own('data', 0o700);
  }

  /** The output of a statement, a line each row. @throws Error with what psql says */
  async ask(statement: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
    const words = ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', statement];
    const { code, out, err } = await this.run(join(this.tools, 'psql'), words, environment);
    if (code !== 0) throw new Error(err);
    return out.trim();
  }

  /** One of deploy/pgbackrest, with its words, as ./lowmark calls it in a container. */
  script(name: string, ...words: readonly string[]): Promise<Outcome> {
    return this.run(join(SCRIPTS, name), words);
  }

  /** A bucket, which stores elsewhere have before. */
  async makeBucket(): Promise<void> {
    const { code, err } = await this.run('pgbackrest', ['--repo=1', 'repo-create']);
    if (code !== 0) throw new Error(err);
  }

  /** `backups.sh schedule`, as the container `backups` runs it. */
  schedule(): Promise<ManagedProcess> {
    return this.background(join(SCRIPTS, 'backups.sh'), ['schedule']);
  }

  /** pg_receivewal, as the handbook has it for a second machine. */
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

  /** What the containers are given, with the folders of this one. */
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
