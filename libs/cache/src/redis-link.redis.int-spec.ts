import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { TcpLink } from '#libs/testing/wire';
import { RedisTexts } from './redis-texts.js';
import { RedisLink } from './redis-link.js';
import { REDIS_COMMANDS } from './redis-uses.js';

let redis: TestRedis;
let link: RedisLink;
let changes: [boolean, string][];
let changedMs: number[];

interface StartOptions {
  readonly password?: string;
  readonly asks?: string;
  readonly deadlineMs?: number;
}

/** Longer than a busy machine takes for an answer. */
const GENEROUS = { deadlineMs: 10_000 };

async function start(options: StartOptions = {}): Promise<void> {
  redis = await startRedis(options.password);
  [changes, changedMs] = [[], []];
  const url = new URL(redis.url);
  if (options.asks !== undefined) url.password = options.asks;
  link = new RedisLink({
    url: url.href,
    ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
    onChange: (...change) => {
      changes.push(change);
      changedMs.push(performance.now());
    },
  });
}
afterEach(async () => {
  link.close();
  await redis.stop();
});

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const set = (): Promise<string> =>
  link.run((client) => client.set('lowmark:test', '1', 'PX', 1000));

describe('RedisLink', () => {
  it('is down for those who ask before it is up, without waiting', async () => {
    await start(GENEROUS);
    await expect(set()).rejects.toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    expect(await link.whenUp(10_000)).toBe(true);
    expect(await set()).toBe('OK');
    expect(changes).toEqual([[true, 'answers']]);
  });

  it('goes down with the server and comes back with it', async () => {
    await start(GENEROUS);
    await link.whenUp(10_000);
    await redis.kill();
    await until(() => !link.isUp);
    await expect(set()).rejects.toMatchObject({ retryable: true });
    await redis.restart();
    await until(() => link.isUp);
    expect(await set()).toBe('OK');
    expect(changes.map(([isUp]) => isUp)).toEqual([true, false, true]);
  });

  it('gives a server that does not answer up at the deadline, all who wait at once, and comes back after it', async () => {
    await start();
    await link.whenUp(10_000);
    redis.pause();
    const results = await Promise.allSettled([set(), set(), set()]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(link.isUp).toBe(false);
    expect(changes.at(-1)).toEqual([false, 'no answer within 50 ms']);
    redis.resume();
    await until(() => link.isUp);
    expect(await set()).toBe('OK');
  });

  it('is not up where the password is wrong, and tells it to nobody', async () => {
    await start({ password: 'right-9f2b', asks: 'wrong-77aa' });
    await until(() => changes.length > 0);
    expect(await link.whenUp(500)).toBe(false);
    expect(changes).toEqual([[false, 'WRONGPASS']]);
    expect(JSON.stringify(changes)).not.toContain('77aa');
  });

  it('stays down where the user may not send one of the commands, and names it once', async () => {
    await start();
    await link.whenUp(10_000);
    const setUser = (user: string, ...rights: string[]) =>
      link.run((client) => client.acl('SETUSER', user, ...rights));
    const all = ['on', '>right-9f2b', '~lowmark:*', ...REDIS_COMMANDS.map((name) => `+${name}`)];
    await Promise.all(
      REDIS_COMMANDS.map(async (name) => {
        await setUser(`without-${name}`, ...all, `-${name}`);
        const url = new URL(redis.url);
        [url.username, url.password] = [`without-${name}`, 'right-9f2b'];
        const told: [boolean, string][] = [];
        const onChange = (...change: [boolean, string]) => told.push(change);
        const own = new RedisLink({ url: url.href, ...GENEROUS, onChange });
        try {
          expect(await own.whenUp(400)).toBe(false);
          expect(told).toEqual([[false, `NOPERM +${name}`]]);
          await setUser(`without-${name}`, `+${name}`);
          expect(await own.whenUp(10_000)).toBe(true);
          expect(told.slice(1)).toEqual([[true, 'answers']]);
        } finally {
          own.close();
        }
      }),
    );
  });

  it('comes up less and less often where it is refused something each time', async () => {
    await start();
    for (let time = 0; time < 5; time += 1) {
      expect(await link.whenUp(10_000)).toBe(true);
      await expect(link.run((client) => client.call('NOSUCH'))).rejects.toThrow('ERR');
    }
    expect(changes.map(([isUp]) => isUp)).toEqual([...Array(5)].flatMap(() => [true, false]));
    for (let time = 0; time < 4; time += 1) {
      const [downMs = NaN, upMs = NaN] = changedMs.slice(2 * time + 1);
      // A timer may fire a millisecond early.
      expect(upMs - downMs).toBeGreaterThanOrEqual(50 * 2 ** time - 2);
    }
  });

  it('takes a server that refuses writes for down', async () => {
    await start();
    await link.whenUp(10_000);
    await link.run((client) => client.config('SET', 'min-replicas-to-write', '1'));
    await expect(set()).rejects.toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    expect(changes.at(-1)).toEqual([false, 'NOREPLICAS']);
    expect(await link.whenUp(600)).toBe(false);
  });
});

describe('a refusal', () => {
  const observed = (url: string): void => {
    changes = [];
    link = new RedisLink({ url, ...GENEROUS, onChange: (...change) => changes.push(change) });
  };
  const userUrl = (password: string): string => {
    const url = new URL(redis.url);
    [url.username, url.password] = ['game', password];
    return url.href;
  };

  it('of a primary that became a replica leads to the new primary, though the old one keeps its sockets open', async () => {
    redis = await startRedis();
    const next = await startRedis();
    const address = new TcpLink(placeOf(redis.url));
    const admin = new Redis(redis.url);
    try {
      await address.open();
      observed(`redis://127.0.0.1:${address.port}`);
      expect(await link.whenUp(10_000)).toBe(true);
      address.leadTo(placeOf(next.url));
      await admin.replicaof('127.0.0.1', placeOf(next.url).port);
      await expect(set()).rejects.toThrow('READONLY');
      expect(await link.whenUp(10_000)).toBe(true);
      expect(await set()).toBe('OK');
      expect(changes).toEqual([
        [true, 'answers'],
        [false, 'READONLY'],
        [true, 'answers'],
      ]);
    } finally {
      admin.disconnect();
      await address.close();
      await next.stop();
    }
  });

  it.each([
    'LOADING Redis is loading the dataset in memory',
    'MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to no.',
    'NOPERM this user has no permissions to run the ’eval’ command',
  ])('is answered by a new connection: %s', async (message) => {
    redis = await startRedis();
    const refusing = await startRefusing(message);
    const address = new TcpLink(refusing.place);
    try {
      await address.open();
      observed(`redis://127.0.0.1:${address.port}`);
      await until(() => changes.length > 0);
      address.leadTo(placeOf(redis.url));
      expect(await link.whenUp(10_000)).toBe(true);
      expect(changes.map(([isUp]) => isUp)).toEqual([false, true]);
    } finally {
      await address.close();
      await refusing.stop();
    }
  });

  it('of one client too many is told in its words', async () => {
    redis = await startRedis();
    const admin = new Redis(redis.url);
    try {
      await admin.config('SET', 'maxclients', '1');
      observed(redis.url);
      // Redis closes the connection at once, so that a write may fail before the refusal is read.
      await until(() =>
        changes.some(([, reason]) => reason === 'ERR max number of clients reached'),
      );
      await admin.config('SET', 'maxclients', '100');
      expect(await link.whenUp(10_000)).toBe(true);
    } finally {
      admin.disconnect();
    }
  });

  it('of the database number is told, and the link stays down', async () => {
    redis = await startRedis();
    observed(`${redis.url}/99`);
    await until(() => changes.length > 0);
    expect(await link.whenUp(500)).toBe(false);
    expect(changes).toEqual([[false, 'ERR DB index is out of range']]);
  });

  it('after a lost connection is told too: the user was deleted', async () => {
    redis = await startRedis();
    const admin = new Redis(redis.url);
    const user = ['SETUSER', 'game', 'on', '>right-9f2b', '~lowmark:*', '+@all'] as const;
    try {
      await admin.acl(...user);
      observed(userUrl('right-9f2b'));
      await link.whenUp(10_000);
      await admin.acl('DELUSER', 'game');
      await until(() => changes.length > 2);
      expect(changes.slice(1)).toEqual([
        [false, 'the connection was lost'],
        [false, 'WRONGPASS'],
      ]);
      await admin.acl(...user);
      expect(await link.whenUp(10_000)).toBe(true);
      expect(changes.slice(3)).toEqual([[true, 'answers']]);
    } finally {
      admin.disconnect();
    }
  });

  it.each([
    ['was changed', 'right-9f2b', 'WRONGPASS'],
    ['was introduced', undefined, 'NOAUTH'],
  ])('after a lost connection is told too: a password %s', async (_, password, reason) => {
    redis = await startRedis(password);
    const admin = new Redis(redis.url);
    try {
      observed(redis.url);
      await link.whenUp(10_000);
      await admin.config('SET', 'requirepass', 'other-31ce');
      await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await until(() => changes.length > 2);
      expect(changes.slice(1)).toEqual([
        [false, 'the connection was lost'],
        [false, reason],
      ]);
    } finally {
      admin.disconnect();
    }
  });
});

/** A server that answers everything with one error, and keeps its connections open. */
async function startRefusing(message: string): Promise<{
  readonly place: { readonly host: string; readonly port: number };
  stop(): Promise<void>;
}> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      // One reply for each command: each begins with the number of its parts.
      const commands = data.toString().match(/^\*\d+\r$/gm) ?? [];
      socket.write(`-${message}\r\n`.repeat(commands.length));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    place: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function placeOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
}

describe('RedisTexts', () => {
  it('keeps texts for a time, and has none without Redis', async () => {
    await start();
    await link.whenUp(10_000);
    const texts = new RedisTexts(link, () => 0.5);
    expect(await texts.get('a')).toBeUndefined();
    texts.set('a', 'ü"1', 100);
    expect(await texts.get('a')).toBe('ü"1');
    expect(await link.run((client) => client.ttl('lowmark:a'))).toBeGreaterThan(100);
    await redis.kill();
    await until(() => !link.isUp);
    texts.set('a', 'other', 100);
    expect(await texts.get('a')).toBeUndefined();
  });
});
