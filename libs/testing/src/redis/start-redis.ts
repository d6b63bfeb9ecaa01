import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { TcpLink } from '../wire/tcp-link.js';

/** A Redis that a test may hurt. */
export interface TestRedis {
  readonly url: string;
  /** Gone at once, with all it knew where it is a server of our own. */
  kill(): Promise<void>;
  /** There again, on the same port. */
  restart(): Promise<void>;
  /** Takes connections and bytes, answers nothing. */
  pause(): void;
  resume(): void;
  /** Ends it; to be called once, after the test. */
  stop(): Promise<void>;
}

/**
 * A redis-server of the test's own from the PATH, without persistence; where there is none, a link to the one that REDIS_URL names, which is
 * cut and held instead of killed and stopped.
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

const START_MS = 10_000;

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

/** Whether a server answers at that port, be it only that it wants a password. */
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
