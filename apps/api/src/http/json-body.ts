import { type FastifyInstance } from 'fastify';
import { HttpProblem, jsonFault } from '#libs/service';

/** Of the media types that Fastify reads by itself JSON is the only one here; what is wrong with a body is said, but not repeated. */
export function takeJsonOnly(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, body, done) => {
      void parse(request, body, (error, value) => {
        done(error && new HttpProblem(400, messageOf(body), { cause: error }), value);
      });
    },
  );
}

function messageOf(body: string): string {
  if (body === '') return 'The body is empty: send JSON.';
  const fault = jsonFault(body);
  return fault === undefined
    ? 'The body must not have the name __proto__, nor prototype in constructor.'
    : `The body is not JSON: ${fault}.`;
}
