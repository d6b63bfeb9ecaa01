import { RedisLink } from '#libs/cache';
import { type Check } from '../check.js';
import { ok, warning } from '../finding.js';

const NAME = 'redis';
const WAIT_MS = 2500;
const DEADLINE_MS = 2000;

/** Whether Redis can be written: as the services use it. */
export const redisCheck: Check = {
  name: NAME,
  needs: ['REDIS_URL'],
  async *look({ settings }) {
    let reason = `no answer within ${WAIT_MS / 1000} s`;
    const link = new RedisLink({
      url: settings.redisUrl ?? '',
      deadlineMs: DEADLINE_MS,
      onChange: (isUp, why) => {
        if (!isUp) reason = why;
      },
    });
    try {
      const isUp = await link.whenUp(WAIT_MS);
      const where = new URL(settings.redisUrl ?? '').host;
      yield isUp
        ? ok(NAME, `${where} answers, and can be written`)
        : warning(
            NAME,
            `${where}: ${reason}`,
            'Start Redis, or correct REDIS_URL; until then every replica limits and caches by itself.',
          );
    } finally {
      link.close();
    }
  },
};
