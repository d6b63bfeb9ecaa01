import { globSync, readFileSync } from 'node:fs';
import { createMetrics } from '#libs/service';
import { ROOT, textOf, yamlOf } from './compose-file.js';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

interface RulesFile {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

export function alertRules(): AlertRule[] {
  return (yamlOf('deploy/prometheus/rules.yml') as RulesFile).groups.flatMap(({ rules }) => rules);
}

/** Every panel's expressions, with the panel's title. */
export function dashboardExpressions(): [string, string][] {
  const { panels } = JSON.parse(textOf('deploy/grafana/dashboards/lowmark.json')) as Dashboard;
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  );
}

/** The names of time series that an expression asks for. */
export function seriesIn(expression: string): string[] {
  const bare = expression.replaceAll(/"[^"]*"/g, '""');
  return bare.match(/\b(?:lowmark|process|nodejs)_[a-z0-9_]+/g) ?? [];
}

/** The names of labels that an expression picks or groups by. */
export function labelsIn(expression: string): string[] {
  const bare = expression.replaceAll(/"[^"]*"/g, '""');
  const picked = [...bare.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*""/g)].map(([, name]) => name);
  const grouped = [...bare.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );
  return [...picked, ...grouped].flatMap((name) => (name ? [name] : []));
}

function sources(): string[] {
  return globSync('{apps,libs}/*/src/**/*.ts', { cwd: ROOT })
    .filter((path) => !/[.-]spec\.ts$/.test(path))
    .map((path) => readFileSync(new URL(path, ROOT), 'utf8'));
}

/** The time series there are: those the code names, with what a histogram makes of them, and those of the runtime. */
export async function knownSeries(): Promise<Set<string>> {
  const named = sources().flatMap((text) => text.match(/(?<=')lowmark_[a-z0-9_]+(?=')/g) ?? []);
  const runtime = (await createMetrics('test').getMetricsAsJSON()).map(({ name }) => name);
  const suffixes = ['', '_bucket', '_count', '_sum'];
  return new Set([...named, ...runtime].flatMap((name) => suffixes.map((end) => name + end)));
}

/** The labels there are: those the code gives, and those that Prometheus adds. */
export function knownLabels(): Set<string> {
  const given = sources().flatMap((text) =>
    [...text.matchAll(/labelNames: \[([^\]]*)\]/g)].flatMap(
      ([, names = '']) => names.match(/[a-z_]+/g) ?? [],
    ),
  );
  const gauges = sources().flatMap((text) =>
    [...text.matchAll(/^ {4}\[('[a-z_]+'(?:, '[a-z_]+')*)\],$/gm)].flatMap(
      ([, names = '']) => names.match(/[a-z_]+/g) ?? [],
    ),
  );
  return new Set([...given, ...gauges, 'job', 'instance', 'le', 'app']);
}
