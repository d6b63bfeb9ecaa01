export { traceRequests } from './http/trace-requests.js';
export { startTracing } from './start-tracing.js';
