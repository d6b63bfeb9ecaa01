import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { REQUEST_ID_HEADER } from './request-id.js';
import { RequestScope } from './request-scope.js';

/**
 * Every answer carries the id of its request, and every line logged while it is served does. To be called before other hooks are
 * added, on a server with `genReqId: requestIdOf`.
 */
export function nameRequests(fastify: FastifyInstance): void {
  const scopes = new WeakMap<FastifyRequest, RequestScope>();
  fastify.addHook('onRequest', (request, reply, done) => {
    answerWithId(request, reply);
    const scope = new RequestScope(request.id);
    scopes.set(request, scope);
    scope.run(done);
  });
  // Nest answers what browsers ask beforehand in a hook of its own, the first of all.
  fastify.addHook('onSend', (request, reply, _, done) => {
    answerWithId(request, reply);
    done();
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

/** For what is answered before any hook. On Node's own answer, since not every answer is written through Fastify. */
export function answerWithId({ id }: FastifyRequest, { raw }: FastifyReply): void {
  raw.setHeader(REQUEST_ID_HEADER, id);
}
