import { prepareTracing, tracesExportersAreKnown } from '#libs/config';
import {
  addLogFields,
  type Closable,
  type Clock,
  installTracer,
  type Logger,
  systemClock,
  within,
} from '#libs/platform';
import { SdkNotes } from './sdk-notes.js';

export interface TracingOptions {
  /** Of OTEL_SERVICE_NAME where it is not set. */
  readonly service: string;
  readonly logger: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** Traces for the life of the process, or none. */
export interface Tracing {
  /** The application with traces that end after it: what is left is sent within two seconds, or dropped. */
  endAfter(application: Closable): Closable;
}

const LAST_MS = 2000;

const UNKNOWN_EXPORTER =
  'No traces are sent: OTEL_TRACES_EXPORTER may be otlp, console, both with a comma, or none; Zipkin is reached by otlp through an OpenTelemetry Collector';

const OFF: Tracing = { endAfter: (application) => application };

/**
 * To be called before anything is put together that may be traced. Where the standard variables do not ask for traces nothing is
 * loaded. Never rejects: a service goes on without its traces.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { service, logger, clock = systemClock } = options;
  if (!prepareTracing(service)) return OFF;
  if (!tracesExportersAreKnown()) {
    logger.warn(UNKNOWN_EXPORTER);
    return OFF;
  }
  const notes = new SdkNotes(logger, clock);
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
    notes.error(error instanceof Error ? error.message : String(error));
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

async function bounded(ending: Promise<void>, notes: SdkNotes): Promise<void> {
  try {
    await within(LAST_MS, ending, () => {
      notes.warn('the last spans were not taken in time');
    });
  } catch (error) {
    notes.error(error instanceof Error ? error.message : String(error));
  }
}
