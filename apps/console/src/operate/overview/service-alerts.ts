import { type AlertBody, type ServiceBody } from './overview.dto.js';

const NAMES: Readonly<Record<ServiceBody['name'], string>> = {
  api: 'api',
  indexer: 'indexer',
  redemption: 'redemption service',
};

/** Alerts for services that do not answer or are not ready. A service without a configured URL raises none. */
export function serviceAlerts(services: readonly ServiceBody[]): AlertBody[] {
  return services.flatMap(({ name, state, reasons, setting }): AlertBody[] => {
    const [of, why] = [NAMES[name], reasons.join(' ')];
    const place = { since: null, link: '/operate' };
    switch (state) {
      case 'no-answer': {
        const summary = `The ${of} does not answer (${why}): start it, or mend ${setting}.`;
        return [{ name: 'ServiceDown', severity: 'critical', summary, ...place }];
      }
      case 'not-ready': {
        const summary = `The ${of} is not ready: ${why}`;
        return [{ name: 'ServiceNotReady', severity: 'warning', summary, ...place }];
      }
      case 'ready':
      case 'not-set':
        return [];
    }
  });
}
