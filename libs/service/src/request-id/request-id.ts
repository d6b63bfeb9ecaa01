import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

/** Header with the request id, which the answer and the log repeat. The caller or a proxy may set it. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Excludes every character that could end a line, a field or a header, and limits the length. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's id where it is safe to repeat, else a new UUID. Fastify's `genReqId`, which sets `request.id`. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * The scope of the request that the current code serves. A resource that the code opens and leaves open (a connection
 * of a pool) stays in this scope, so the scope ends with the answer: later events do not belong to the request.
 */
export class RequestScope {
  private static readonly storage = new AsyncLocalStorage<RequestScope>();

  private isServed = false;

  constructor(private readonly requestId: string) {}

  /** Id of the current request; undefined outside of a request. */
  static currentId(): string | undefined {
    const scope = RequestScope.storage.getStore();
    return scope === undefined || scope.isServed ? undefined : scope.requestId;
  }

  run<T>(work: () => T): T {
    return RequestScope.storage.run(this, work);
  }

  end(): void {
    this.isServed = true;
  }
}

/** Runs the work so that its log lines carry the id of the request. */
export function withRequestId<T>(requestId: string, work: () => T): T {
  return new RequestScope(requestId).run(work);
}

/** Adds the request id to every line that is logged while a request is served, and to every answer. */
export function nameRequests(fastify: FastifyInstance): void {
  const scopes = new WeakMap<FastifyRequest, RequestScope>();
  fastify.addHook('onRequest', (request, reply, done) => {
    answerWithId(request, reply);
    const scope = new RequestScope(request.id);
    scopes.set(request, scope);
    scope.run(done);
  });
  // The body arrives in events of the connection, which run outside of the request's scope.
  fastify.addHook('preValidation', (request, _, done) => {
    const scope = scopes.get(request);
    if (scope === undefined) done();
    else scope.run(done);
  });
  fastify.addHook('onResponse', (request, _, done) => {
    scopes.get(request)?.end();
    done();
  });
}

/** Sets the header on Node's own response, since not every answer is written through Fastify. */
export function answerWithId({ id }: FastifyRequest, { raw }: FastifyReply): void {
  raw.setHeader(REQUEST_ID_HEADER, id);
}
