import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort, ManagedProcess } from '#libs/devprocess';

export interface PgBouncerOptions {
  /** Connection string of the PostgreSQL server behind PgBouncer. */
  readonly url: string;
  /** User names that may log in besides the user of `url`; each password equals its name. */
  readonly users?: readonly string[];
  /** Server connections per user. */
  readonly poolSize: number;
  /** Startup parameters that it leaves out; default: none. */
  readonly ignores?: string;
}

/** PgBouncer in transaction mode: Debian's package with its default settings. */
export class PgBouncer {
  private constructor(
    private readonly program: ManagedProcess,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  static async start({
    url,
    users = [],
    poolSize,
    ignores = '',
  }: PgBouncerOptions): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-pgbouncer-'));
    const server = new URL(url);
    const port = await freePort();
    const [owner, password] = [server.username, server.password].map(decodeURIComponent);
    const logins = [[owner, password], ...users.map((user) => [user, user])];
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: join(folder, 'users.txt'),
      pool_mode: 'transaction',
      default_pool_size: String(poolSize),
      max_client_conn: '1000',
      ignore_startup_parameters: ignores,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const file = join(folder, 'pgbouncer.ini');
    const databases = `[databases]\n* = host=${server.hostname} port=${server.port}\n`;
    await writeFile(file, `${databases}[pgbouncer]\n${lines.join('\n')}\n`);
    await writeFile(
      settings.auth_file,
      logins.map(([name, word]) => `"${name ?? ''}" "${word ?? ''}"\n`).join(''),
    );
    await chmod(folder, 0o755);
    const program = await ManagedProcess.start({
      command: pgBouncerProgram(),
      // PgBouncer refuses to run as root.
      args: [...(userInfo().uid === 0 ? ['-u', 'postgres'] : []), file],
      logFile: join(folder, 'pgbouncer.log'),
      stopSignal: 'SIGINT',
    });
    const pooler = new PgBouncer(program, folder, port);
    await pooler.ready(url);
    return pooler;
  }

  /** The same connection string with the host and port of PgBouncer. */
  through(url: string): string {
    const pooled = new URL(url);
    pooled.host = `127.0.0.1:${this.port}`;
    return pooled.href;
  }

  async stop(): Promise<void> {
    await this.program.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async ready(url: string): Promise<void> {
    for (;;) {
      const client = new pg.Client({ connectionString: this.through(url) });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.end();
        return;
      } catch (error) {
        if (this.program.isRunning && (error as { code?: string }).code === 'ECONNREFUSED') {
          await sleep(20);
          continue;
        }
        const tail = (await this.program.tail()).join('\n');
        await this.stop();
        throw new Error(`PgBouncer does not serve:\n${tail}`, { cause: error });
      }
    }
  }
}

function pgBouncerProgram(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  const found = folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
  if (found === undefined) throw new Error('There is no pgbouncer: apt-get install pgbouncer');
  return found;
}
