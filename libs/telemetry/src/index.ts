export { traceRequests } from './trace-requests.js';
export { startTracing } from './start-tracing.js';
