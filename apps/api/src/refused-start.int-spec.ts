import { expect, it } from '@jest/globals';
import { startApi } from './testing/api-harness.support.js';

it('refuses a Redis that asks for no password, in production, and says what to set', async () => {
  const settings = { NODE_ENV: 'production', REDIS_URL: 'redis://hunter2@127.0.0.1:1' };
  await expect(startApi(settings)).rejects.toMatchObject({
    code: 'DEVELOPMENT_SETTINGS',
    message: expect.stringMatching(/REDIS_URL: has no password.*redis:\/\/:PASSWORD@HOST/),
  });
});
