export { CLOCK, type Clock, systemClock } from './clock.js';
export * from './logger.js';
export { FreshValue, SingleFlight, TtlCache } from './sharing.js';
export { type Closable, type Shutdown, stopOnSignals, StoppedError } from './shutdown.js';
export * from './spans.js';
export { accessOf } from './file-access.js';
export { DatabaseUrl } from './database-url.js';
export { type Deadline, deadlineIn, retryAfterMs, sleep, withTimeout } from './time.js';
