import { afterEach, describe, expect, it } from '@jest/globals';
import { startRedis, type TestRedis } from '#libs/testing';
import { RedisTexts } from '../texts/redis-texts.js';
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

  it.each(REDIS_COMMANDS)(
    'stays down where the user may not %s, and names it once',
    async (name) => {
      await start();
      const admin = link;
      await admin.whenUp(10_000);
      const rights = ['~lowmark:*', ...REDIS_COMMANDS.map((command) => `+${command}`), `-${name}`];
      await admin.run((client) => client.acl('SETUSER', 'game', 'on', '>right-9f2b', ...rights));
      try {
        const url = new URL(redis.url);
        [url.username, url.password] = ['game', 'right-9f2b'];
        changes = [];
        link = new RedisLink({ url: url.href, onChange: (...change) => changes.push(change) });
        expect(await link.whenUp(400)).toBe(false);
        expect(changes).toEqual([[false, `NOPERM +${name}`]]);
        await admin.run((client) => client.acl('SETUSER', 'game', `+${name}`));
        expect(await link.whenUp(10_000)).toBe(true);
        expect(changes.slice(1)).toEqual([[true, 'answers']]);
      } finally {
        admin.close();
      }
    },
  );

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
