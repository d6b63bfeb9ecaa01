import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { type ComposeFile, ROOT, textOf, yamlOf } from './compose-file.js';
import {
  alertRules,
  dashboardExpressions,
  knownLabels,
  knownSeries,
  labelsIn,
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
    readonly dns_sd_configs: readonly {
      readonly names: readonly string[];
      readonly port: number;
    }[];
  }[];
}

const RULE_TESTS = ['rules.test.yml', 'rules.hours.test.yml'];
const rules = alertRules();
const alerts = rules.map(({ alert }) => alert);
const expressions = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...dashboardExpressions(),
];

describe('alert rules and dashboard', () => {
  it('ask for something', () => {
    expect(rules.length).toBeGreaterThan(20);
    expect(dashboardExpressions().length).toBeGreaterThan(20);
    for (const [name, expr] of expressions) {
      if (!/\bup\{/.test(expr)) expect([name, seriesIn(expr).length]).not.toEqual([name, 0]);
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
    for (const { labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^(warning|critical)$/);
      expect(annotations.summary).toMatch(/\.$/);
    }
  });

  it('have each a section that says what to do, and no other has one', () => {
    const sections = textOf('docs/operating/alerts.md').match(/(?<=^### ).+$/gm) ?? [];
    expect(sections).toEqual(alerts);
  });

  it('have each a test in which they fire', () => {
    const firing = RULE_TESTS.map((file) => yamlOf(`deploy/prometheus/${file}`) as RuleTests)
      .flatMap(({ tests }) => tests)
      .flatMap(({ alert_rule_test }) => alert_rule_test)
      .filter(({ exp_alerts }) => exp_alerts.length > 0)
      .map(({ alertname }) => alertname);
    expect([...new Set(firing)].sort()).toEqual([...alerts].sort());
  });

  it('do what their tests say, where promtool is installed', () => {
    const cwd = fileURLToPath(new URL('deploy/prometheus/', ROOT));
    const promtool = spawnSync('promtool', ['test', 'rules', ...RULE_TESTS], {
      cwd,
      encoding: 'utf8',
    });
    if ((promtool.error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
      console.warn('promtool is not installed: the tests of the alert rules were not run');
      return;
    }
    expect(promtool.stdout + promtool.stderr).toContain('SUCCESS');
    expect(promtool.status).toBe(0);
  });
});

describe('prometheus.yml', () => {
  it('asks the services where they listen', () => {
    const { services } = yamlOf('docker-compose.yml') as ComposeFile;
    const { scrape_configs } = yamlOf('deploy/prometheus/prometheus.yml') as PrometheusFile;
    const asked = scrape_configs.map(({ job_name, dns_sd_configs: [config] }) => ({
      job: job_name,
      names: config?.names,
      port: config?.port,
    }));
    expect(asked).toEqual(
      ['indexer', 'api', 'redemption'].map((job) => ({
        job,
        names: [job],
        port:
          services[job]?.environment?.[`${job.toUpperCase()}_MANAGEMENT_PORT`] ??
          services[job]?.environment?.[`${job.toUpperCase()}_PORT`],
      })),
    );
  });
});
