import { Injectable } from '@nestjs/common';
import { redact } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ConsoleSettings } from '../../console.env.js';
import { fetchJson, objectOf } from '../fetch-json.js';
import { bySeverity, DatabaseAlerts } from './database-alerts.js';
import { type AlertBody, type AlertsBody, SEVERITIES } from './overview.dto.js';
import { serviceAlerts } from './service-alerts.js';
import { ServiceHealth } from './service-health.js';

const TIMEOUT_MS = 2_500;
const MOST = 100;
const LONGEST = 500;

/** Open alerts: from Alertmanager where ALERTMANAGER_URL is set, else from the database and the services. */
@Injectable()
export class OpenAlerts {
  constructor(
    private readonly settings: ConsoleSettings,
    private readonly database: DatabaseAlerts,
    private readonly health: ServiceHealth,
  ) {}

  /** @throws HttpProblem 503 where Alertmanager does not answer */
  async all(): Promise<AlertsBody> {
    const { alertmanagerUrl } = this.settings;
    if (alertmanagerUrl === undefined) {
      const [stored, services] = await Promise.all([this.database.all(), this.health.all()]);
      const alerts = [...stored, ...serviceAlerts(services)].sort(bySeverity);
      const notSet = services.filter(({ state }) => state === 'not-set');
      return { source: 'console', alerts, unknown: notSet.map(({ setting }) => setting) };
    }
    const base = alertmanagerUrl.replace(/\/+$/, '');
    const url = `${base}/api/v2/alerts?active=true&silenced=false&inhibited=false`;
    const { status, body } = await fetchJson(url, TIMEOUT_MS);
    if (status !== 200 || !Array.isArray(body)) {
      const message =
        status === undefined
          ? 'Alertmanager does not answer: check ALERTMANAGER_URL, and whether it runs.'
          : `Alertmanager answered ${status}, and no alerts: check ALERTMANAGER_URL, also its user and password.`;
      throw new HttpProblem(503, message, { code: 'ALERTMANAGER_UNAVAILABLE' });
    }
    const alerts = (body as unknown[]).flatMap(alertOf).slice(0, MOST);
    return { source: 'alertmanager', alerts: alerts.sort(bySeverity), unknown: [] };
  }
}

/** An alert that always fires, which shows only that alerts arrive. The list leaves it out. */
const WATCHDOG = 'Watchdog';

function alertOf(entry: unknown): AlertBody[] {
  const { labels, annotations, startsAt } = objectOf(entry);
  const { alertname, severity } = objectOf(labels);
  const { summary, description, runbook_url: runbook } = objectOf(annotations);
  if (typeof alertname !== 'string' || alertname === WATCHDOG) return [];
  const sinceMs = typeof startsAt === 'string' ? Date.parse(startsAt) : Number.NaN;
  return [
    {
      name: bounded(alertname),
      severity: SEVERITIES.find((known) => known === severity) ?? 'warning',
      summary: bounded(textOf(summary) ?? textOf(description) ?? alertname),
      since: Number.isNaN(sinceMs) ? null : new Date(sinceMs),
      link: linkOf(runbook),
    },
  ];
}

/** Only an http or https URL becomes a link. */
function linkOf(url: unknown): string | null {
  return typeof url === 'string' && /^https?:\/\/[^\s]{1,500}$/.test(url) ? url : null;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function bounded(text: string): string {
  return redact(text).slice(0, LONGEST);
}
