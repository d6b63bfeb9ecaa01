import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { installedTracer, redact, type RequestSpan } from '#libs/platform';

/** Probes and scrapes come every few seconds and tell nothing. */
const NOT_TRACED = /^\/(?:health|metrics)(?:[/?]|$)/;
const LONGEST_PATH = 256;

/**
 * One server span for each request, with what it starts below it. Around the server's own listener, so that also what comes before
 * the first hook belongs to it. To be called once, before `listen`; where traces are off it does nothing at all.
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
  // A body comes with the events of its connection, which know nothing of the request.
  fastify.addHook('preValidation', (request, _, done) => {
    const span = told(request);
    if (span === undefined) done();
    else span.run(done);
  });
  // Also what was refused before, and what was written past the other hooks.
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
  // The route's own pattern, never the path as sent, which a caller may make up.
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
