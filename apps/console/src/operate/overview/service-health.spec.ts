import { describe, expect, it } from '@jest/globals';
import { healthUrl } from './service-health.js';

describe('the health of a service is asked for', () => {
  it.each([
    ['where the service answers', 'http://127.0.0.1:3000', undefined, 'http://127.0.0.1:3000'],
    ['at the management port', 'http://api.proxy:3000', 9000, 'http://api.proxy:9000'],
    ['at the management port by http', 'https://api.example', 9000, 'http://api.example:9000'],
  ])('%s', (_, serviceUrl, managementPort, url) => {
    expect(healthUrl(serviceUrl, managementPort)).toBe(url);
  });
});
