import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

/** Names a request in the answer and in the log; a caller, or a proxy before us, may choose it. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Nothing that could end a line, a field or a header, and nothing long. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own id where it may be repeated as it is, else a new UUID. Fastify's `genReqId`: it is `request.id` from then on. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * The request that the running code serves. Whatever it opens and leaves open (a connection of a pool) goes on in the scope, so
 * that it ends with the answer: what happens later is no longer of this request.
 */
export class RequestScope {
  private static readonly storage = new AsyncLocalStorage<RequestScope>();

  private isServed = false;

  constructor(private readonly requestId: string) {}

  /** Undefined outside of a request. */
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

/** What the work logs carries the id of the request. */
export function withRequestId<T>(requestId: string, work: () => T): T {
  return new RequestScope(requestId).run(work);
}

/** Every line logged while a request is served carries its id, and so does an answer that is not written through Fastify. */
export function nameRequests(fastify: FastifyInstance): void {
  const scopes = new WeakMap<FastifyRequest, RequestScope>();
  fastify.addHook('onRequest', (request, reply, done) => {
    answerWithId(request, reply);
    const scope = new RequestScope(request.id);
    scopes.set(request, scope);
    scope.run(done);
  });
  // A body comes with the events of its connection, which know nothing of the request.
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

/** For what is answered before any hook of ours. On Node's own answer, since not every answer is written through Fastify. */
export function answerWithId({ id }: FastifyRequest, { raw }: FastifyReply): void {
  raw.setHeader(REQUEST_ID_HEADER, id);
}
