export { CLOCK, type Clock, systemClock } from './clock.js';
export {
  addedLogFields,
  addLogFields,
  LOG_LEVELS,
  type Logger,
  type LogLevel,
  redact,
  version,
} from './logger.js';
export { FreshValue, SingleFlight, TtlCache } from './sharing.js';
export { type Closable, type Shutdown, stopOnSignals, StoppedError } from './shutdown.js';
export {
  inChildSpan,
  inSpan,
  installedTracer,
  installTracer,
  type OpenSpan,
  type RequestSpan,
  type SpanAttributes,
  type SpanStart,
  type Tracer,
  tracingIsOn,
} from './spans.js';
export { DatabaseUrl, SESSION_TARGETS, type SessionTarget } from './database-url.js';
export { type Deadline, deadlineIn, retryAfterMs, sleep, within } from './time.js';
