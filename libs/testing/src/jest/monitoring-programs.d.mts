export type MonitoringProgram =
  'prometheus' | 'promtool' | 'alertmanager' | 'amtool' | 'node-exporter' | 'blackbox-exporter';

export function monitoringProgram(
  name: MonitoringProgram,
  environment?: NodeJS.ProcessEnv,
): string | undefined;
