import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { REDIS_COMMANDS, RedisLink } from '#libs/cache';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { type Finding } from '#libs/doctor';
import { runCaptured } from './testing/cli-bench.support.js';

const SECRET = 'right-9f2b';
const WRONG = 'wrong-77aa';
const ALL_THAT_IS_USED = ['~lowmark:*', ...REDIS_COMMANDS.map((name) => `+${name}`)];
/** The keys, the first and the last command. */
const LACKING = [0, 1, -1].map((place) => ALL_THAT_IS_USED.at(place) ?? '');

interface RedisProxyOptions {
  /** Delay of each answer, in milliseconds. */
  readonly delayMs?: number;
  /** Replaces text in answers; the replacement must have the same length. */
  readonly rewrite?: readonly [text: RegExp, by: (found: string) => string];
}

interface RedisProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** A proxy to Redis that delays or rewrites its answers. */
async function startRedisProxy(
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

let redis: TestRedis | undefined;
let proxy: RedisProxy | undefined;
afterEach(async () => {
  await proxy?.close();
  await redis?.stop();
  [redis, proxy] = [undefined, undefined];
});

const SLOW = /services wait|no answer within/;

/** The doctor's finding about the Redis at a URL. Asks again if only the machine is too busy for an answer in time. */
async function finding(url: string): Promise<Finding> {
  let found = await findingOnce(url);
  for (let again = 0; again < 5 && SLOW.test(found.found); again++) found = await findingOnce(url);
  return found;
}

/** Checks that the output does not contain the password. */
async function findingOnce(url: string): Promise<Finding> {
  const settings = { REDIS_URL: url };
  const { code, out: printed, err } = await runCaptured(['doctor', '--json'], settings);
  expect({ code, err, printed }).toMatchObject({ code: 0 });
  expect(printed + err).not.toMatch(new RegExp(`${SECRET}|${WRONG}`));
  const { findings } = JSON.parse(printed) as { findings: Finding[] };
  const found = findings.filter(({ what }) => what === 'redis');
  expect(found).toHaveLength(1);
  return found[0] as Finding;
}

async function started(password?: string): Promise<string> {
  redis = await startRedis(password);
  return redis.url;
}

async function throughProxy(options: RedisProxyOptions): Promise<string> {
  proxy = await startRedisProxy(await started(), options);
  return proxy.url;
}

/** Runs a command as Redis' administrator. */
async function order(url: string, ...command: [string, ...string[]]): Promise<void> {
  const link = new RedisLink({ url, deadlineMs: 5000 });
  await link.whenUp(10_000);
  await link.run((client) => client.call(...command));
  link.close();
}

/** Creates a user with these rights. @returns the URL for this user */
async function asUser(administrator: string, user: string, rights: string[]): Promise<string> {
  await order(administrator, 'ACL', 'SETUSER', user, 'on', `>${SECRET}`, ...rights);
  const url = new URL(administrator);
  [url.username, url.password] = [user, SECRET];
  return url.href;
}

describe('doctor on Redis', () => {
  it('that is as it should be, with a password and without', async () => {
    const found = { state: 'ok', found: expect.stringMatching(/^\d+\.\d+\.\d+ at 127\S+ answers/) };
    expect(await finding(await started())).toMatchObject(found);
    await redis?.stop();
    expect(await finding(await started(SECRET))).toMatchObject(found);
  });

  it('with a wrong password, and with none', async () => {
    const url = new URL(await started(SECRET));
    url.password = WRONG;
    const mend = expect.stringContaining('Correct user and password');
    const wrong = { state: 'warning', found: `${url.host}: WRONGPASS`, mend };
    expect(await finding(url.href)).toMatchObject(wrong);
    url.password = '';
    expect(await finding(url.href)).toMatchObject({ ...wrong, found: `${url.host}: NOAUTH` });
  });

  it('that has fewer databases', async () => {
    const url = `${await started()}/99`;
    expect(await finding(url)).toMatchObject({
      state: 'warning',
      found: `${new URL(url).host}: ERR DB index is out of range`,
      mend: expect.stringContaining('correct the number in REDIS_URL'),
    });
  });

  it('that is not there', async () => {
    const port = await freePort();
    expect(await finding(`redis://127.0.0.1:${port}`)).toMatchObject({
      state: 'warning',
      found: `127.0.0.1:${port}: ECONNREFUSED`,
      mend: expect.stringContaining('Start Redis'),
    });
  });

  it('that takes the connection and says nothing', async () => {
    const url = await started();
    redis?.pause();
    const found = await findingOnce(url);
    redis?.resume();
    expect(found).toMatchObject({ state: 'warning' });
    expect(found.found).toMatch(/no answer within/);
  });

  it('that is slower than the services wait for', async () => {
    const url = await throughProxy({ delayMs: 90 });
    let found: Finding | undefined;
    await eventually(async () => {
      found = await findingOnce(url);
      return !found.found.includes('no answer within');
    });
    expect(found).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/answers in \d+ ms; services wait 50 ms/),
      mend: expect.stringContaining('nearer'),
    });
  });

  it('that is too old', async () => {
    const rewrite = [/redis_version:\d/, () => 'redis_version:5'] as const;
    expect(await finding(await throughProxy({ rewrite }))).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/^5\.\S+ at \S+ is too old$/),
      mend: 'Upgrade it to Redis 6.2 or newer.',
    });
  });

  it('whose user may do what is used, and nothing else', async () => {
    const url = await asUser(await started(), 'game', ALL_THAT_IS_USED);
    expect(await finding(url)).toMatchObject({ state: 'ok' });
  });

  it.each([
    ['takes nothing more', 'noeviction', 'warning'],
    ['forgets limits first', 'volatile-ttl', 'warning'],
    ['forgets what is used least', 'allkeys-lru', 'ok'],
  ])('that %s once it is full: %s', async (_, policy, state) => {
    const url = await started();
    await order(url, 'CONFIG', 'SET', 'maxmemory', '100mb', 'maxmemory-policy', policy);
    const found = await finding(url);
    expect(found).toMatchObject({ state });
    if (state === 'ok') return;
    expect(found.found).toContain(policy);
    expect(found.mend).toBe('Set maxmemory-policy to allkeys-lru.');
  });

  it('that is a replica', async () => {
    const url = await started();
    await order(url, 'REPLICAOF', '127.0.0.1', String(await freePort()));
    const mend = expect.stringContaining('let REDIS_URL name the primary');
    expect(await finding(url)).toMatchObject({ state: 'warning', mend });
  });
});

describe('doctor on a Redis whose user', () => {
  const found = new Map<string, Finding>();
  let shared: TestRedis;

  // Each test waits for a link that does not come up, so all wait concurrently.
  beforeAll(async () => {
    shared = await startRedis();
    await Promise.all(
      LACKING.map(async (lacking, user) => {
        const rights = ALL_THAT_IS_USED.filter((right) => right !== lacking);
        found.set(lacking, await finding(await asUser(shared.url, `game-${user}`, rights)));
      }),
    );
  });
  afterAll(() => shared.stop());

  it.each(LACKING)('lacks %s', (lacking) => {
    expect(found.get(lacking)).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(new RegExp(`: NOPERM ${lacking.replace(/[+*]/g, '\\$&')}$`)),
      mend: expect.stringContaining('ACL SETUSER'),
    });
  });
});
