export { traceRequests } from './http/trace-requests.js';
export { startTracing, type Tracing, type TracingOptions } from './start-tracing.js';
