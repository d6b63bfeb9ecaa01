import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { TcpLink } from '../wire/tcp-link.js';

/** A Redis that belongs to one test, which may kill and suspend it. */
export interface TestRedis {
  readonly url: string;
  /** Ends Redis at once. All data are lost where the test has a server of its own. */
  kill(): Promise<void>;
  /** Starts Redis again on the same port. */
  restart(): Promise<void>;
  /** Suspends Redis: connections and bytes are still accepted, but get no answer. */
  pause(): void;
  resume(): void;
  /** Ends Redis for good. Call it once, after the test. */
  stop(): Promise<void>;
}

/**
 * Starts a redis-server from the PATH for one test, without persistence. Where there is none, returns a TCP link to the
 * Redis that REDIS_URL names; the link is closed and paused instead of killing and suspending a server.
 */
export async function startRedis(password?: string): Promise<TestRedis> {
  const given = process.env['REDIS_URL'];
  const server = new ServerRedis(await freePort(), password);
  try {
    await server.restart();
    return server;
  } catch (error) {
    await server.stop();
    if (given === undefined) throw error;
    const link = new LinkedRedis(new URL(given));
    await link.restart();
    return link;
  }
}

const START_MS = 60_000;

class ServerRedis implements TestRedis {
  private process: ManagedProcess | undefined;
  private folder: string | undefined;

  constructor(
    private readonly port: number,
    private readonly password: string | undefined,
  ) {}

  get url(): string {
    const login = this.password === undefined ? '' : `:${this.password}@`;
    return `redis://${login}127.0.0.1:${this.port}`;
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.process?.ended;
  }

  async restart(): Promise<void> {
    this.folder ??= await mkdtemp(join(tmpdir(), 'lowmark-redis-'));
    const settings = {
      port: String(this.port),
      bind: '127.0.0.1',
      dir: this.folder,
      save: '',
      appendonly: 'no',
      ...(this.password !== undefined && { requirepass: this.password }),
    };
    this.process = await ManagedProcess.start({
      command: 'redis-server',
      args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
      logFile: join(this.folder, 'redis.log'),
    });
    const ending = this.process.ended.then((how) => {
      throw new Error(`redis-server: ${how}`);
    });
    await Promise.race([ending, this.ready()]);
    ending.catch(() => undefined);
  }

  pause(): void {
    this.signal('SIGSTOP');
  }

  resume(): void {
    this.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.kill();
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true });
  }

  private signal(signal: NodeJS.Signals): void {
    const { pid, isRunning } = this.process ?? {};
    if (pid !== undefined && isRunning === true) process.kill(pid, signal);
  }

  private async ready(): Promise<void> {
    for (let waitedMs = 0; waitedMs < START_MS; waitedMs += 20) {
      if (await answers(this.port)) return;
      if (this.process?.isRunning !== true) return;
      await sleep(20);
    }
    throw new Error(`redis-server does not answer within ${START_MS} ms`);
  }
}

/** Whether a server answers at this port; an error that asks for a password also counts. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    await once(socket, 'data');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

class LinkedRedis implements TestRedis {
  private readonly link: TcpLink;

  constructor(private readonly target: URL) {
    this.link = new TcpLink({ host: target.hostname, port: Number(target.port || 6379) });
  }

  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.link.port);
    return url.href;
  }

  kill(): Promise<void> {
    return this.link.close();
  }

  restart(): Promise<void> {
    return this.link.open();
  }

  pause(): void {
    this.link.cut();
  }

  resume(): void {
    this.link.resume();
  }

  stop(): Promise<void> {
    return this.link.close();
  }
}
