import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { unauthorized } from '../http/keys/api-key.guard.js';
import { answerHeaders } from '../http/signing/response-headers.js';
import { snapshotQuery } from './snapshot-query.js';
import { type SnapshotsService } from './snapshots.service.js';
import { JSON_TYPE } from '#libs/service';

const PATH = '/api/staking/snapshots';

/**
 * `GET /api/staking/snapshots`; see `docs/wire/snapshots.md`. A route of Fastify itself, and its 200 is written straight to the
 * socket: it is nearly all that the service does, and the way through Nest's layers and the hooks costs as much CPU as making
 * the answer (`npm run bench -- api`). Whatever is not a 200 is thrown, and takes the way of all errors.
 */
export function serveSnapshots(fastify: FastifyInstance, snapshots: SnapshotsService): void {
  fastify.get(PATH, (request: FastifyRequest, reply: FastifyReply) => {
    // Who calls comes before what is asked.
    const { admission } = request;
    if (admission?.caller === undefined) throw unauthorized();
    const query = snapshotQuery(request.query as Record<string, unknown>);
    return snapshots.read(query, request.prepared).then(({ body, indexBlock, final }) => {
      const { raw } = reply;
      const { method = '', url = '' } = request.raw;
      const headers = answerHeaders({ method, url, requestId: request.id }, body, admission);
      headers.push('content-type', JSON_TYPE);
      headers.push('content-length', String(Buffer.byteLength(body)));
      headers.push('x-index-block', indexBlock.toString(), 'x-index-final', String(final));
      if (!fastify.server.listening) headers.push('connection', 'close');
      reply.hijack();
      raw.writeHead(200, headers);
      // Node leaves the body out where the method is HEAD.
      raw.end(body);
    });
  });
}
