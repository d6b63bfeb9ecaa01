type Environment = Record<string, string | undefined>;

/** Any of these asks for traces. */
const ASKING = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
];

/**
 * Whether the standard variables of OpenTelemetry ask for traces. An empty one counts as absent, `none` and OTEL_SDK_DISABLED ask
 * for nothing.
 */
export function tracingIsWanted(environment: Readonly<Environment> = process.env): boolean {
  const valueOf = (name: string): string => environment[name]?.trim().toLowerCase() ?? '';
  if (valueOf('OTEL_SDK_DISABLED') === 'true') return false;
  const exporters = valueOf('OTEL_TRACES_EXPORTER').split(',');
  if (exporters.some((name) => name.trim() === 'none')) return false;
  return ASKING.some((name) => valueOf(name) !== '');
}

/**
 * Whether OTEL_TRACES_EXPORTER, where it is set, names only exporters that can be had. The SDK's own for Zipkin is none of them: it
 * lets no process end while a collector does not answer.
 */
export function tracesExportersAreKnown(environment: Readonly<Environment> = process.env): boolean {
  const names = environment['OTEL_TRACES_EXPORTER']?.split(',') ?? [];
  return names.every((name) => EXPORTERS.includes(name.trim()));
}

/** In the spelling of the SDK; nothing between two commas is nothing to it. */
const EXPORTERS = ['otlp', 'console', ''];

/**
 * Makes the environment ready for the SDK, which reads the variables itself: what is empty goes, and what the operator left open is
 * filled in. Changes nothing where traces are not wanted.
 * @returns whether they are
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
  // There is /metrics, and the log goes to standard output: the SDK would send both to the collector by itself.
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
  // Not the process, whose command line and owner must not be published.
  OTEL_NODE_RESOURCE_DETECTORS: 'env,host,serviceinstance',
  // Milliseconds. The end of the process waits for a request under way: no longer than it waits for the last spans.
  OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
};
