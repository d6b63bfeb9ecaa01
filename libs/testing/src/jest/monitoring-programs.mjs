/** Tests in files *.metrics-spec.ts need Prometheus, Alertmanager and the exporters of the profile `metrics`, as programs. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** By the name of the image's program; Debian puts `prometheus-` in front of some. */
const PROGRAMS = [
  'prometheus',
  'promtool',
  'alertmanager',
  'amtool',
  'node-exporter',
  'blackbox-exporter',
];
const PACKAGES =
  'prometheus prometheus-alertmanager prometheus-node-exporter prometheus-blackbox-exporter';
const HOW = `Install them (Debian: apt-get install ${PACKAGES}) and run the tests again.`;

/** @returns the path of one of the programs; undefined where it is not installed */
export function monitoringProgram(name, environment = process.env) {
  const names = [name, `prometheus-${name}`, name.replace('-', '_')];
  return (environment.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((file) => join(folder, file)))
    .find((path) => existsSync(path));
}

export function hasMonitoring(environment = process.env) {
  return PROGRAMS.every((name) => monitoringProgram(name, environment) !== undefined);
}

/** CI leaves nothing out. */
export function requireMonitoringInCi(environment = process.env) {
  if (environment.CI === 'true' && !hasMonitoring(environment)) {
    throw new Error(
      `Prometheus, Alertmanager or an exporter is missing for the tests *.metrics-spec.ts. ${HOW}`,
    );
  }
}

/** The last lines of a run that left tests out. */
export function missingMonitoringNote(environment = process.env) {
  if (hasMonitoring(environment)) return '';
  return [
    '',
    '!! NOT TESTED: that an alert reaches its receiver, and that no panel is empty (all files *.metrics-spec.ts).',
    `!! ${HOW}`,
    '',
  ].join('\n');
}
