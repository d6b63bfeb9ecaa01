/** A PostgreSQL with server and tools of one version, since `pg_dump` refuses a server newer than itself. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '#libs/devpostgres';
import { postgresTools } from '../../../libs/testing/src/jest/programs.mjs';

/** A database `lowmark` with an owner of the same name, as in docker-compose.yml. */
export class LocalPostgres {
  private constructor(
    readonly tools: string,
    private readonly folder: string,
    private readonly server: EmbeddedPostgres,
  ) {}

  static async start(): Promise<LocalPostgres> {
    const tools = postgresTools();
    if (tools === undefined) throw new Error('There is no PostgreSQL with its tools.');
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-pages-postgres-'));
    const server = await EmbeddedPostgres.start({
      directory: join(folder, 'data'),
      logFile: join(folder, 'postgres.log'),
      initdbFlags: ['--no-sync'],
      settings: { fsync: 'off', autovacuum: 'off' },
      programs: { initdb: join(tools, 'initdb'), postgres: join(tools, 'postgres') },
    });
    const postgres = new LocalPostgres(tools, folder, server);
    postgres.say('CREATE DATABASE lowmark');
    return postgres;
  }

  /** Connection string of the owner. */
  get url(): string {
    const url = new URL(this.server.url);
    url.pathname = '/lowmark';
    return url.href;
  }

  /** Variables with which the tools reach the server, as they do inside its container. */
  get environment(): Record<string, string> {
    const { hostname, port, password } = new URL(this.server.url);
    return { PGHOST: hostname, PGPORT: port, PGPASSWORD: decodeURIComponent(password) };
  }

  private say(...statements: readonly string[]): void {
    const env = { ...process.env, ...this.environment };
    const commands = statements.flatMap((statement) => ['-c', statement]);
    execFileSync(join(this.tools, 'psql'), ['-q', '-U', 'lowmark', 'postgres', ...commands], {
      env,
    });
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
