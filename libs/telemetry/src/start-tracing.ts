import { prepareTracing, tracesExportersAreKnown } from '#libs/config';
import {
  addLogFields,
  type Clock,
  type Closable,
  installTracer,
  type Logger,
  messageOf,
  systemClock,
  withTimeout,
} from '#libs/platform';
import { SdkDiagLogger } from './sdk-diag-logger.js';

export interface TracingOptions {
  /** Default for OTEL_SERVICE_NAME. */
  readonly service: string;
  readonly logger: Logger;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** A running tracer, or none. */
export interface Tracing {
  /** Wraps the application so that tracing ends after it: remaining spans are sent within two seconds, or dropped. */
  endAfter(application: Closable): Closable;
}

const LAST_MS = 2000;

const UNKNOWN_EXPORTER =
  'No traces are sent: OTEL_TRACES_EXPORTER may be otlp, console, both with a comma, or none; Zipkin is reached by otlp through an OpenTelemetry Collector';

const OFF: Tracing = { endAfter: (application) => application };

/**
 * Starts tracing. Call it before creating anything that may be traced. Nothing is loaded unless OpenTelemetry's
 * standard variables ask for traces. Never rejects, so that a service runs without its traces.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { service, logger, clock = systemClock } = options;
  if (!prepareTracing(service)) return OFF;
  if (!tracesExportersAreKnown()) {
    logger.warn(UNKNOWN_EXPORTER);
    return OFF;
  }
  const notes = new SdkDiagLogger(logger, clock);
  try {
    const { startSdk } = await import('./tracer.js');
    const { tracer, shutdown } = startSdk(notes);
    installTracer(tracer);
    addLogFields(() => tracer.logFields());
    logger.info('Traces are sent, as the OTEL_ variables say');
    return {
      endAfter: (application) => endingAfter(application, () => bounded(shutdown(), notes)),
    };
  } catch (error) {
    notes.error(messageOf(error));
    return OFF;
  }
}

function endingAfter(application: Closable, end: () => Promise<void>): Closable {
  return {
    close: async () => {
      try {
        await application.close();
      } finally {
        await end();
      }
    },
  };
}

async function bounded(ending: Promise<void>, notes: SdkDiagLogger): Promise<void> {
  try {
    await withTimeout(LAST_MS, ending, () => {
      notes.warn('the last spans were not taken in time');
    });
  } catch (error) {
    notes.error(messageOf(error));
  }
}
