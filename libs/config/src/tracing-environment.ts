type Environment = Record<string, string | undefined>;

/** Variables that ask for traces when set. */
const ASKING = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
];

/**
 * Whether the standard variables of OpenTelemetry ask for traces. An empty variable counts as absent; `none` and
 * OTEL_SDK_DISABLED turn traces off.
 */
export function tracingIsWanted(environment: Readonly<Environment> = process.env): boolean {
  const valueOf = (name: string): string => environment[name]?.trim().toLowerCase() ?? '';
  if (valueOf('OTEL_SDK_DISABLED') === 'true') return false;
  const exporters = valueOf('OTEL_TRACES_EXPORTER').split(',');
  if (exporters.some((name) => name.trim() === 'none')) return false;
  return ASKING.some((name) => valueOf(name) !== '');
}

/**
 * Whether OTEL_TRACES_EXPORTER, where it is set, names only supported exporters. The SDK's Zipkin exporter is not
 * supported: with an unresponsive collector it prevents the process from ending.
 */
export function tracesExportersAreKnown(environment: Readonly<Environment> = process.env): boolean {
  const names = environment['OTEL_TRACES_EXPORTER']?.split(',') ?? [];
  return names.every((name) => EXPORTERS.includes(name.trim()));
}

/** Names as the SDK spells them; the SDK ignores an empty name. */
const EXPORTERS = ['otlp', 'console', ''];

/**
 * Prepares the environment for the SDK, which reads the variables itself: removes empty variables and sets defaults.
 * Changes nothing where traces are not wanted.
 * @returns whether traces are wanted
 */
export function prepareTracing(service: string, environment: Environment = process.env): boolean {
  if (!tracingIsWanted(environment)) return false;
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith('OTEL_') && value?.trim() === '') Reflect.deleteProperty(environment, name);
  }
  for (const [name, value] of Object.entries(FILLED_IN)) environment[name] ??= value;
  const resource = environment['OTEL_RESOURCE_ATTRIBUTES'] ?? '';
  if (!/(?:^|,)\s*service\.name\s*=/.test(resource)) environment['OTEL_SERVICE_NAME'] ??= service;
  return true;
}

const FILLED_IN = {
  // The SDK would send metrics and logs to the collector by default; we serve /metrics and log to standard output.
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
  // Without the process detector, because command line and owner must not be published.
  OTEL_NODE_RESOURCE_DETECTORS: 'env,host,serviceinstance',
  // Milliseconds. The process waits for a request in progress before it ends, at most as long as for the last spans.
  OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
};
