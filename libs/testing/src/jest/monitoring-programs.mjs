/**
 * Tests in *.metrics-spec.ts need Prometheus, Alertmanager and the exporters of the Compose profile `metrics`,
 * installed as programs.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Names of the programs as in their images; Debian prefixes some with `prometheus-`. */
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

/** @returns the path of a program; undefined where it is not installed */
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

/** In CI a missing program is an error; elsewhere the tests are left out. */
export function requireMonitoringInCi(environment = process.env) {
  if (environment.CI === 'true' && !hasMonitoring(environment)) {
    throw new Error(
      `Prometheus, Alertmanager or an exporter is missing for the tests *.metrics-spec.ts. ${HOW}`,
    );
  }
}

/** @returns the note for the end of a run that left these tests out */
export function missingMonitoringNote(environment = process.env) {
  if (hasMonitoring(environment)) return '';
  return [
    '',
    '!! NOT TESTED: that an alert reaches its receiver, and that no panel is empty (all files *.metrics-spec.ts).',
    `!! ${HOW}`,
    '',
  ].join('\n');
}
