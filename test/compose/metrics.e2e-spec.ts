/** Tests the alert rules, the dashboard and the targets of Prometheus against the code and the documentation. */
import { describe, expect, it } from '@jest/globals';
import { anchors, read } from '../partner-docs/markdown.js';
import { type ComposeFile, textOf, yamlOf } from './compose-file.js';
import {
  alertRules,
  dashboard,
  dashboardExpressions,
  knownLabels,
  knownSeries,
  labelsIn,
  recordingRules,
  RULE_TESTS,
  seriesIn,
} from './metrics.js';

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

interface PrometheusFile {
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly dns_sd_configs?: readonly {
      readonly names: readonly string[];
      readonly port: number;
    }[];
  }[];
}

const OURS = ['indexer', 'api', 'redemption', 'console'];
const rules = alertRules();
const alerts = rules.map(({ alert }) => alert);
const expressions = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...recordingRules().map(({ record, expr }): [string, string] => [record, expr]),
  ...dashboardExpressions(),
];

describe('alert rules and dashboard', () => {
  it('ask for something', () => {
    expect(rules.length).toBeGreaterThan(20);
    expect(dashboardExpressions().length).toBeGreaterThan(20);
    for (const [name, expr] of expressions) {
      if (!/\bup\{|^vector/.test(expr))
        expect([name, seriesIn(expr).length]).not.toEqual([name, 0]);
    }
  });

  it('ask for time series that the services have', async () => {
    const known = await knownSeries();
    const unknown = expressions.flatMap(([name, expr]) =>
      seriesIn(expr).flatMap((series) => (known.has(series) ? [] : [[name, series]])),
    );
    expect(unknown).toEqual([]);
  });

  it('ask for labels that the time series have', () => {
    const known = knownLabels();
    const unknown = expressions.flatMap(([name, expr]) =>
      labelsIn(expr).flatMap((label) => (known.has(label) ? [] : [[name, label]])),
    );
    expect(unknown).toEqual([]);
  });
});

describe('alert rules', () => {
  it('have one name each, a severity and a sentence', () => {
    expect(new Set(alerts).size).toBe(alerts.length);
    for (const { annotations } of rules) {
      expect(annotations.summary).toMatch(/\.$/);
    }
    const paging = rules.filter(({ alert }) => alert !== 'Watchdog');
    expect(paging.length).toBeLessThanOrEqual(25);
    for (const { labels } of paging) {
      expect(labels.severity).toMatch(
        /^(warning|critical|\{\{ if [^}]+ \}\}critical\{\{ else \}\}warning\{\{ end \}\})$/,
      );
    }
  });

  it('say which service is concerned, for grouping and inhibition', () => {
    const services = new Set(rules.map(({ labels }) => labels.service));
    expect([...services].sort()).toEqual([
      ...['alerting', 'certificates', 'host', 'indexer', 'redemption', 'redis'],
      '{{ $labels.app }}',
      '{{ $labels.service }}',
      '{{ if $labels.state }}redemption{{ else }}indexer{{ end }}',
      '{{ if match "audit|seal" $labels.task }}indexer{{ else }}redemption{{ end }}',
    ]);
  });

  it('lead each to its section, which exists', () => {
    const there = anchors(read('docs/operating/alerts.md'));
    for (const { alert, annotations } of rules) {
      const anchor = alert.toLowerCase();
      expect(annotations.runbook_url).toBe(`{{ $externalLabels.handbook }}/alerts.md#${anchor}`);
      expect(there).toContain(anchor);
    }
  });

  it('have each a section that says what to do, and no other has one', () => {
    const sections = textOf('docs/operating/alerts.md').match(/(?<=^### ).+$/gm) ?? [];
    expect(sections).toEqual(alerts);
  });

  it('have each a test in which they fire, and one in which they do not', () => {
    const tested = RULE_TESTS.map((file) => yamlOf(`deploy/prometheus/${file}`) as RuleTests)
      .flatMap(({ tests }) => tests)
      .flatMap(({ alert_rule_test }) => alert_rule_test);
    const named = (fires: boolean): string[] =>
      tested
        .filter(({ exp_alerts }) => exp_alerts.length > 0 === fires)
        .map(({ alertname }) => alertname);
    expect([...new Set(named(true))].sort()).toEqual([...alerts].sort());
    const quiet = [...named(false), 'Watchdog'];
    expect(alerts.filter((name) => !quiet.includes(name))).toEqual([]);
  });
});

describe('the dashboard', () => {
  const { panels, links, templating } = dashboard();
  const [, ...others] = panels;

  it('begins with six numbers that have thresholds, then what is open', () => {
    const first = others.filter(({ gridPos }) => gridPos.y === 1);
    expect(first.map(({ type }) => type)).toEqual(Array.from({ length: 6 }, () => 'stat'));
    for (const { fieldConfig } of first) {
      expect(fieldConfig?.defaults.thresholds?.steps.length).toBeGreaterThan(1);
    }
    const second = others.filter(({ gridPos }) => gridPos.y === 6);
    expect(second.map(({ type, title }) => [type, title])).toEqual([
      ['alertlist', 'Alerts'],
      ['gauge', 'Sync'],
      ['timeseries', 'Sync: time left'],
      ['timeseries', 'Sync: blocks a second'],
    ]);
  });

  it('shows no panel over another one, and none beside the page', () => {
    const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
      expect({ title, isInside: x + w <= 24 }).toEqual({ title, isInside: true });
      return Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('links to pages and headings of the handbook that exist', () => {
    const all = [...links, ...panels.flatMap((panel) => panel.links ?? [])];
    expect(all.length).toBeGreaterThan(10);
    for (const { url } of all) {
      const [, page = '', anchor] =
        /^\$\{handbook\}\/([a-z-]+\.md|README\.md)(?:#(.+))?$/.exec(url) ?? [];
      const text = read(`docs/operating/${page}`);
      if (anchor !== undefined) expect(anchors(text)).toContain(anchor);
    }
    expect(templating.list.map(({ name }) => name)).toEqual(['handbook']);
  });
});

describe('prometheus.yml', () => {
  const { scrape_configs } = yamlOf('deploy/prometheus/prometheus.yml') as PrometheusFile;
  const scrapes = scrape_configs.flatMap(({ job_name: job, dns_sd_configs: [config] = [] }) =>
    config === undefined ? [] : [{ job, names: config.names, port: config.port }],
  );

  it('asks the services where they listen', () => {
    const { services } = yamlOf('docker-compose.yml') as ComposeFile;
    expect(scrapes.filter(({ job }) => OURS.includes(job))).toEqual(
      OURS.map((job) => ({
        job,
        names: [job],
        port:
          services[job]?.environment?.['MANAGEMENT_PORT'] ??
          services[job]?.environment?.[`${job.toUpperCase()}_PORT`],
      })),
    );
  });

  it('asks Alertmanager and the exporters where their health is asked for', () => {
    const { services } = yamlOf('docker-compose.yml') as ComposeFile;
    const others = scrapes.filter(({ job }) => !OURS.includes(job));
    expect(others.map(({ job }) => job)).toEqual(['alertmanager', 'node', 'blackbox']);
    for (const { names, port } of others) {
      const [name = ''] = names;
      expect(services[name]?.profiles).toEqual(['metrics']);
      expect(services[name]?.healthcheck?.test.at(-1)).toContain(`http://127.0.0.1:${port}/`);
    }
  });
});
