import { describe, expect, it } from '@jest/globals';
import { type ServiceBody } from './overview.dto.js';
import { serviceAlerts } from './service-alerts.js';
import { healthUrl } from './service-health.js';

const service = (state: ServiceBody['state'], reasons: string[] = []): ServiceBody => ({
  ...{ name: 'redemption', state, reasons, setting: 'REDEMPTION_URL', sync: null },
});

it('a service that is silent is critical, and says which setting to look at', () => {
  expect(serviceAlerts([service('no-answer', ['connection refused'])])).toEqual([
    {
      name: 'ServiceDown',
      severity: 'critical',
      summary:
        'The redemption service does not answer (connection refused): start it, or mend REDEMPTION_URL.',
      ...{ since: null, link: '/operate' },
    },
  ]);
});

it('a service that is not ready is a warning, with its reasons', () => {
  const [alert] = serviceAlerts([service('not-ready', ['The chain is away.', 'Redis too.'])]);
  expect(alert).toMatchObject({
    severity: 'warning',
    summary: 'The redemption service is not ready: The chain is away. Redis too.',
  });
});

it('one that is ready, or whose place is not known, is none', () => {
  expect(serviceAlerts([service('ready'), service('not-set')])).toEqual([]);
});

describe('the health of a service is asked for', () => {
  it.each([
    ['where the service answers', 'http://127.0.0.1:3000', undefined, 'http://127.0.0.1:3000'],
    ['at the management port', 'http://api.proxy:3000', 9000, 'http://api.proxy:9000'],
    ['at the management port by http', 'https://api.example', 9000, 'http://api.example:9000'],
  ])('%s', (_, serviceUrl, managementPort, url) => {
    expect(healthUrl(serviceUrl, managementPort)).toBe(url);
  });
});
