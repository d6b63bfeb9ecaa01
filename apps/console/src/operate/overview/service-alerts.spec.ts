import { expect, it } from '@jest/globals';
import { type ServiceBody } from './overview.dto.js';
import { serviceAlerts } from './service-alerts.js';

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
