export { traceRequests } from './http/trace-requests.js';
export { type OpenSpan, type SpanAttributes, type SpanStart } from './span.js';
export { startTracing, type Tracing, type TracingOptions } from './start-tracing.js';
export { inChildSpan, inSpan, tracingIsOn } from './tracing.js';
