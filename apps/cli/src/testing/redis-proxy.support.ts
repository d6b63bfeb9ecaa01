/** A proxy to Redis that delays or rewrites its answers. Counts as a test file without being one. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface RedisProxyOptions {
  /** Delay of each answer, in milliseconds. */
  readonly delayMs?: number;
  /** Replaces text in answers; the replacement must have the same length. */
  readonly rewrite?: readonly [text: RegExp, by: (found: string) => string];
}

export interface RedisProxy {
  readonly url: string;
  close(): Promise<void>;
}

export async function startRedisProxy(
  target: string,
  { delayMs = 0, rewrite }: RedisProxyOptions,
): Promise<RedisProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(new URL(target).port), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
    near.pipe(far);
    far.on('data', (answer) => {
      const text = answer.toString('latin1');
      const sent = rewrite === undefined ? text : text.replace(...rewrite);
      setTimeout(() => near.write(sent, 'latin1'), delayMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
