import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { installedTracer, redact, type RequestSpan } from '#libs/platform';

/** Health probes and metric scrapes are frequent and of no interest. */
const NOT_TRACED = /^\/(?:health|metrics)(?:[/?]|$)/;
const LONGEST_PATH = 256;

/**
 * Makes one server span for each request, as the parent of everything that the request starts. It wraps the server's
 * own listener, so that work before the first hook also belongs to the span. Call it once, before `listen`; while
 * tracing is off it does nothing.
 */
export function traceRequests(fastify: FastifyInstance): void {
  const tracer = installedTracer();
  if (tracer === undefined) return;
  const spans = new WeakMap<IncomingMessage, RequestSpan>();
  const server = fastify.server;
  const serve = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const onwards = (): void => {
      for (const listener of serve) listener.call(server, request, response);
    };
    if (NOT_TRACED.test(request.url ?? '')) {
      onwards();
      return;
    }
    const { method = '', headers } = request;
    const span = tracer.serve(headers, method, attributesOf(request));
    spans.set(request, span);
    response.once('close', () => {
      finish(span, response);
    });
    span.run(onwards);
  });
  const told = (request: FastifyRequest): RequestSpan | undefined => {
    const span = spans.get(request.raw);
    if (span) tell(span, request);
    return span;
  };
  // The body arrives in events of the connection, which run outside of the request's context.
  fastify.addHook('preValidation', (request, _, done) => {
    const span = told(request);
    if (span === undefined) done();
    else span.run(done);
  });
  // Covers requests that were refused earlier, and answers that bypass the other hooks.
  fastify.addHook('onResponse', (request, _, done) => {
    told(request);
    done();
  });
}

function attributesOf({ method = '', url = '', socket }: IncomingMessage) {
  const [path = ''] = url.split('?', 1);
  return {
    'http.request.method': method,
    'url.path': redact(path.slice(0, LONGEST_PATH)),
    'url.scheme': 'http',
    'server.address': socket.localAddress,
    'server.port': socket.localPort,
  };
}

function tell(span: RequestSpan, { id, method, routeOptions }: FastifyRequest): void {
  // The pattern of the route, never the path as sent, which a caller can choose freely.
  const { url: route } = routeOptions;
  span.note({ 'lowmark.request_id': id, 'http.route': route });
  if (route !== undefined) span.rename(`${method} ${route}`);
}

function finish(span: RequestSpan, response: ServerResponse): void {
  const { statusCode, headersSent, writableFinished } = response;
  if (headersSent) span.note({ 'http.response.status_code': statusCode });
  if (!writableFinished) span.fail('aborted');
  else if (statusCode >= 500) span.fail(String(statusCode));
  span.end();
}
