import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { link, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { StackError } from '../stack.error.js';
import { readJson } from './stack-file.js';

interface Holder {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
}

/**
 * Lets one stack run in a directory at a time. The holder answers on a loopback port with the token of its lock file; a
 * lock whose holder does not answer is a leftover. A process id alone proves nothing, because another program may have
 * it by now.
 */
export class StackLock {
  private constructor(
    private readonly path: string,
    private readonly server: Server,
    /** Whether the previous stack ended without releasing the lock. */
    readonly replacedStaleLock: boolean,
  ) {}

  /** @throws StackError where another stack holds the lock */
  static async take(path: string): Promise<StackLock> {
    const token = randomUUID();
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(token);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    const { port } = server.address() as AddressInfo;
    const ownFile = `${path}.${String(process.pid)}`;
    await writeFile(ownFile, JSON.stringify({ pid: process.pid, port, token }));
    try {
      const replacedStaleLock = await claim(ownFile, path);
      return new StackLock(path, server, replacedStaleLock);
    } catch (error) {
      server.close();
      throw error;
    } finally {
      await rm(ownFile, { force: true });
    }
  }

  async release(): Promise<void> {
    await rm(this.path, { force: true });
    this.server.close();
  }
}

/** Links the complete file to the name of the lock, which fails where a lock exists. */
async function claim(own: string, path: string): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    try {
      await link(own, path);
      return attempt > 0;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 3) throw error;
    }
    const holder = (await readJson(path)) as Holder | undefined;
    if (holder !== undefined && (await answers(holder))) {
      throw new StackError(
        `The stack already runs in this clone (process ${holder.pid}). End it there with Ctrl-C first, or use it as it is: see .data/stack.json.`,
      );
    }
    await rm(path, { force: true });
  }
}

async function answers({ port, token }: Holder): Promise<boolean> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port, timeout: 2_000 });
    const done = (): void => {
      socket.destroy();
      resolve(text === token);
    };
    socket.on('data', (chunk) => (text += chunk.toString('utf8')));
    for (const event of ['end', 'timeout', 'error', 'close']) socket.on(event, done);
  });
}
