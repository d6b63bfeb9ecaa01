import { globSync, readFileSync } from 'node:fs';
import { createMetrics } from '#libs/service';
import { ROOT, textOf, yamlOf } from './compose-file.js';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string; readonly service: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

interface RulesFile {
  readonly groups: readonly { readonly rules: readonly (AlertRule | RecordingRule)[] }[];
}

export interface Link {
  readonly title: string;
  readonly url: string;
}

export interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly fieldConfig?: {
    readonly defaults: { readonly thresholds?: { readonly steps: readonly unknown[] } };
  };
  readonly options?: Readonly<Record<string, unknown>>;
  readonly links?: readonly Link[];
  readonly targets?: readonly { readonly expr: string }[];
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly links: readonly Link[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition: string }[];
  };
}

/** The tests of the alert rules, in deploy/prometheus. */
export const RULE_TESTS = ['rules.test.yml', 'rules.hours.test.yml'];

function rules(): (AlertRule | RecordingRule)[] {
  return (yamlOf('deploy/prometheus/rules.yml') as RulesFile).groups.flatMap((one) => one.rules);
}

export function alertRules(): AlertRule[] {
  return rules().filter((rule) => 'alert' in rule);
}

export function recordingRules(): RecordingRule[] {
  return rules().filter((rule) => 'record' in rule);
}

/** Whether the rule can be critical: some are by a label or by their value. */
export function canBeCritical({ labels: { severity } }: AlertRule): boolean {
  return severity.includes('critical');
}

export function dashboard(): Dashboard {
  return JSON.parse(textOf('deploy/grafana/dashboards/lowmark.json')) as Dashboard;
}

/** The expressions of all panels, each with the panel's title. */
export function dashboardExpressions(): [string, string][] {
  return dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  );
}

/** The names of time series in an expression. */
export function seriesIn(expression: string): string[] {
  const bare = expression.replaceAll(/"[^"]*"/g, '""');
  return (
    bare.match(
      /\b(?:(?:lowmark|process|nodejs|node|probe|alertmanager)_[a-z0-9_]+|lowmark:[a-z0-9_]+|ALERTS)\b/g,
    ) ?? []
  );
}

/** The names of labels that an expression selects or groups by. */
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
    .filter((path) => !/[.-](spec|support)\.ts$/.test(path))
    .map((path) => readFileSync(new URL(path, ROOT), 'utf8'));
}

/** Written by deploy/pgbackrest/backups.sh for the node exporter; the script's test reads the file. */
const SCRIPT_SERIES = ['lowmark_archive_waiting_seconds'];
/** Time series of other programs; `alerting.monitoring.soak-spec.ts` reads them from these programs. */
const FOREIGN_SERIES = [
  'ALERTS',
  'alertmanager_notifications_total',
  'alertmanager_notifications_failed_total',
  'node_filesystem_avail_bytes',
  'node_filesystem_size_bytes',
  'node_textfile_mtime_seconds',
  'probe_ssl_earliest_cert_expiry',
];
const FOREIGN_LABELS = [
  ...['alertstate', 'alertname', 'severity', 'integration'],
  ...['device', 'fstype', 'file'],
];

/**
 * All existing time series: the ones named in the code, with the suffixes of histograms, and those of the runtime and
 * of other programs.
 */
export async function knownSeries(): Promise<Set<string>> {
  const named = sources().flatMap((text) => text.match(/(?<=')lowmark_[a-z0-9_]+(?=')/g) ?? []);
  const runtime = (await createMetrics('test').getMetricsAsJSON()).map(({ name }) => name);
  const suffixes = ['', '_bucket', '_count', '_sum'];
  const ours = [...named, ...runtime].flatMap((name) => suffixes.map((end) => name + end));
  const recorded = recordingRules().map(({ record }) => record);
  return new Set([...ours, ...recorded, ...SCRIPT_SERIES, ...FOREIGN_SERIES]);
}

/** All existing labels: the ones in the code, and those that Prometheus adds. */
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
  const recorded = recordingRules().flatMap(({ labels, expr }) => [
    ...Object.keys(labels ?? {}),
    // Made by label_replace.
    ...[...expr.matchAll(/^ *"([a-z_]+)", "[a-z]+", "", ""$/gm)].flatMap(([, name = '']) => name),
  ]);
  const added = ['job', 'instance', 'le', 'app'];
  return new Set([...given, ...gauges, ...recorded, ...FOREIGN_LABELS, ...added]);
}
