export { CLOCK, type Clock, systemClock } from './clock.js';
export { addedLogFields, addLogFields } from './log-fields.js';
export { LOG_LEVELS, type Logger, type LogLevel } from './logger.js';
export { redact } from './redact.js';
export { FreshValue } from './share/fresh-value.js';
export { SingleFlight } from './share/single-flight.js';
export { TtlCache, type TtlCacheOptions } from './share/ttl-cache.js';
export { type Closable, type Shutdown, StoppedError, stopOnSignals } from './shutdown.js';
export { type OpenSpan, type SpanAttributes, type SpanStart } from './spans/span.js';
export {
  inChildSpan,
  inSpan,
  installedTracer,
  installTracer,
  type RequestSpan,
  type Tracer,
  tracingIsOn,
} from './spans/tracing.js';
export { type Deadline, deadlineIn, type DeadlineOptions } from './time/deadline.js';
export { retryAfterMs } from './time/retry-after.js';
export { sleep } from './time/sleep.js';
export { within } from './time/within.js';
export { version } from './version.js';
