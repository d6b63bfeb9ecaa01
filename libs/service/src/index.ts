export { watchDescriptors } from './descriptors/watch-descriptors.js';
export * from './health/health.registry.js';
export { HealthModule } from './health/health.module.js';
export { BodyLimit } from './http/body-limit.js';
export * from './http/client-errors.js';
export { createHttpApp, type HttpAppOptions } from './http/create-http-app.js';
export { HttpProblem, type HttpProblemOptions, problemFrom } from './http/http-problem.js';
export { type HttpWire } from './http/http-wire.js';
export { JSON_TYPE, ProblemFilter } from './http/problem.filter.js';
export { HttpShutdown, type HttpShutdownOptions } from './http/http-shutdown.js';
export { listenOn } from './http/named-ports.js';
export { MayBeAbsent } from './http/may-be-absent.js';
export { StrictPipe } from './http/strict.pipe.js';
export { createLogger, LOGGER, type LoggerOptions } from './logger/logger.js';
export { NestLogger } from './logger/nest-logger.js';
export * from './metrics/metrics.js';
export { ManagementModule } from './management/management.module.js';
export { provide } from './provide.js';
export { measureRequests } from './metrics/request-metrics.js';
export { observeRpc } from './metrics/rpc-metrics.js';
export {
  answerWithId,
  nameRequests,
  REQUEST_ID_HEADER,
  requestIdOf,
  withRequestId,
} from './request-id/request-id.js';
