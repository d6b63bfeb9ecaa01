import { Injectable } from '@nestjs/common';
import { redact } from '#libs/platform';
import { ConsoleSettings } from '../../console.env.js';
import { fetchJson, objectOf } from '../fetch-json.js';
import { type ServiceBody, type SyncBody } from './overview.dto.js';

const TIMEOUT_MS = 2_500;
/** Bounds on the reasons that another program reports, so that they fit into a card of the page. */
const MOST_REASONS = 10;
const LONGEST_REASON = 300;

interface Place {
  readonly name: ServiceBody['name'];
  readonly setting: string;
  readonly url: string | undefined;
}

/** Health of the services, as they report at `/health/ready`. */
@Injectable()
export class ServiceHealth {
  private readonly places: readonly Place[];

  constructor(settings: ConsoleSettings) {
    const { apiUrl, indexerUrl, managementPort, redemptionUrl } = settings;
    this.places = [
      { name: 'api', setting: 'API_URL', url: healthUrl(apiUrl, managementPort) },
      { name: 'indexer', setting: 'INDEXER_URL', url: indexerUrl },
      {
        name: 'redemption',
        setting: 'REDEMPTION_URL',
        url: healthUrl(redemptionUrl, managementPort),
      },
    ];
  }

  /** Asks all services in parallel. A service that does not answer delays the result by TIMEOUT_MS at most. */
  all(): Promise<ServiceBody[]> {
    return Promise.all(this.places.map(ask));
  }
}

/** Where a service reports its health: its management port, if there is one, is the same as the console's. */
export function healthUrl(serviceUrl: string, managementPort: number | undefined): string {
  if (managementPort === undefined) return serviceUrl;
  const url = new URL(serviceUrl);
  url.protocol = 'http:';
  url.port = String(managementPort);
  return url.origin;
}

async function ask({ name, setting, url }: Place): Promise<ServiceBody> {
  const nothing = { name, setting, reasons: [], sync: null };
  if (url === undefined) return { ...nothing, state: 'not-set' };
  const answer = await fetchJson(`${url}/health/ready`, TIMEOUT_MS);
  const report = reportOf(answer.body);
  if (report === undefined) {
    const reason =
      answer.status === undefined ? answer.reason : `it answered ${answer.status}, and no report`;
    return { ...nothing, state: 'no-answer', reasons: [reason] };
  }
  return { name, setting, ...report };
}

/** Undefined where the body is not a health report. */
function reportOf(body: unknown): Omit<ServiceBody, 'name' | 'setting'> | undefined {
  const { status, reasons, checks } = objectOf(body);
  if (status !== 'ready' && status !== 'not ready') return undefined;
  const said = Array.isArray(reasons) ? (reasons as unknown[]) : [];
  return {
    state: status === 'ready' ? 'ready' : 'not-ready',
    reasons: said
      .filter((reason) => typeof reason === 'string')
      .slice(0, MOST_REASONS)
      .map((reason) => redact(reason).slice(0, LONGEST_REASON)),
    sync: syncOf(objectOf(objectOf(objectOf(checks)['index'])['details'])),
  };
}

/** The indexer's progress; null for the details of another service. */
function syncOf(details: Readonly<Record<string, unknown>>): SyncBody | null {
  const { phase, verification } = details;
  if (typeof phase !== 'string') return null;
  const number = (name: string): number | null => {
    const value = details[name];
    return typeof value === 'number' && Number.isFinite(value) ? value : null;
  };
  return {
    phase: phase.slice(0, LONGEST_REASON),
    percent: number('percent'),
    secondsLeft: number('secondsLeft'),
    blocksPerSecond: number('blocksPerSecond'),
    chainHeadBlock: number('chainHeadBlock'),
    verification: typeof verification === 'string' ? verification.slice(0, LONGEST_REASON) : null,
  };
}
