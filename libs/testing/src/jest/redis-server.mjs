/** Tests in *.redis-spec.ts need a redis-server on the PATH, or the Redis that REDIS_URL names. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export function hasRedis(environment = process.env) {
  return Boolean(environment.REDIS_URL) || redisServer(environment) !== undefined;
}

/** @returns the path of a redis-server executable */
export function redisServer(environment = process.env) {
  return (environment.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'redis-server'))
    .find(isExecutable);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const HOW =
  'Install it (Debian: apt-get install redis-server) or set REDIS_URL, and run the tests again.';

/** In CI a missing Redis is an error; elsewhere the tests are left out. */
export function requireRedisInCi(environment = process.env) {
  if (environment.CI === 'true' && !hasRedis(environment)) {
    throw new Error(`There is no redis-server for the tests *.redis-spec.ts. ${HOW}`);
  }
}

/** @returns the note for the end of a run that left these tests out */
export function missingRedisNote(environment = process.env) {
  if (hasRedis(environment)) return '';
  return [
    '',
    '!! NOT TESTED: everything that needs Redis (all files *.redis-spec.ts): limits and cached parts shared by replicas,',
    '!! and what happens while Redis is dead or slow. There is no redis-server on the PATH and no REDIS_URL.',
    `!! ${HOW}`,
    '',
  ].join('\n');
}
