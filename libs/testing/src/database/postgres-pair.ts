import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgres } from '#libs/devpostgres';

const run = promisify(execFile);

const SETTINGS = { fsync: 'off', autovacuum: 'off', max_connections: '50' };

/** A PostgreSQL server that belongs to one test, which may suspend and kill it. */
export class TestServer {
  constructor(private readonly server: EmbeddedPostgres) {}

  /** Connection string of a superuser, to the database `postgres`. */
  get url(): string {
    return this.server.url;
  }

  get host(): string {
    return `127.0.0.1:${this.server.port}`;
  }

  /** Suspends all processes of the server until `resume`. Connections stay open, but get no answers. */
  async hang(): Promise<void> {
    await this.signal('SIGSTOP');
  }

  async resume(): Promise<void> {
    await this.signal('SIGCONT');
  }

  /** Kills the server as a power failure would. */
  async kill(): Promise<void> {
    await this.signal('SIGKILL');
    await this.server.process.ended;
  }

  async stop(): Promise<void> {
    if (!this.server.process.isRunning) return;
    await this.resume();
    await this.server.stop();
  }

  private async signal(signal: NodeJS.Signals): Promise<void> {
    for (const pid of await this.pids()) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // A backend may have ended in the meantime.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  private async pids(): Promise<number[]> {
    const { pid } = this.server.process;
    if (pid === undefined) throw new Error('The server was not started');
    const children = await run('ps', ['-o', 'pid=', '--ppid', String(pid)]).catch(() => ({
      stdout: '',
    }));
    return [pid, ...children.stdout.split('\n').filter(Boolean).map(Number)];
  }
}

/** Starts a single server that belongs to one test. */
export async function startTestPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly server: TestServer; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'lowmark-server-'));
  const server = new TestServer(await start(folder, 'primary', settings));
  return {
    server,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A primary and a standby that streams from it. */
export class PostgresPair {
  private constructor(
    readonly primary: TestServer,
    readonly standby: TestServer,
    private readonly folder: string,
  ) {}

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresPair> {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-pair-'));
    let password = '';
    const first = await start(folder, 'primary', {}, (created) => {
      password = created;
    });
    await first.stop();
    // The server is stopped, so a plain copy of its folder is consistent.
    await run('cp', ['-a', join(folder, 'primary'), join(folder, 'standby')]);
    await run('touch', [join(folder, 'standby', 'standby.signal')]);
    await run('chown', [
      '--reference',
      join(folder, 'standby'),
      join(folder, 'standby', 'standby.signal'),
    ]);
    const again = {
      directory: join(folder, 'primary'),
      password,
      logFile: join(folder, 'primary.log'),
    };
    const primary = await EmbeddedPostgres.start({
      ...again,
      settings: { ...SETTINGS, ...settings },
    });
    const conninfo = `host=127.0.0.1 port=${primary.port} user=lowmark password=${password} application_name=standby`;
    const standby = await EmbeddedPostgres.start({
      ...{ directory: join(folder, 'standby'), password, logFile: join(folder, 'standby.log') },
      settings: { ...SETTINGS, primary_conninfo: conninfo },
    });
    return new PostgresPair(new TestServer(primary), new TestServer(standby), folder);
  }

  async stop(): Promise<void> {
    await this.standby.stop();
    await this.primary.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function start(
  folder: string,
  name: string,
  settings: Readonly<Record<string, string>>,
  onCreated: (password: string) => void = () => undefined,
): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.start({
    directory: join(folder, name),
    logFile: join(folder, `${name}.log`),
    initdbFlags: ['--no-sync', '--set=scram_iterations=1'],
    settings: { ...SETTINGS, ...settings },
    onCreated: (password) => {
      onCreated(password);
      return Promise.resolve();
    },
  });
}
