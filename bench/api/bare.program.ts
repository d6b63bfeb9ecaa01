/**
 * The lower bound for the cost of an API answer: a bare Fastify server that signs a constant body of the same size for
 * every request and sends as many headers. It has no partners, no limits and no database.
 *
 *   node dist/bench/api/bare.program.js {"body":"…","secret":"…"}     prints its port
 */
import { createHmac } from 'node:crypto';
import fastify from 'fastify';

const { body, secret } = JSON.parse(process.argv[2] ?? '{}') as { body: string; secret: string };
const server = fastify();

server.get('/api/staking/snapshots', (request, reply) => {
  const path = request.url.split('?')[0] ?? '';
  const signature = createHmac('sha256', secret).update(`GET${path}${body}`).digest('hex');
  return reply
    .headers({
      'content-type': 'application/json; charset=utf-8',
      'x-api-signature': signature,
      'x-api-version': '1',
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '1',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .send(body);
});

await server.listen({ port: 0, host: '127.0.0.1' });
process.on('SIGTERM', () => {
  void server.close();
});
const [address] = server.addresses();
console.log(JSON.stringify({ port: typeof address === 'object' ? address.port : undefined }));
