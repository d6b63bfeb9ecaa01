import { randomUUID } from 'node:crypto';
import { type IncomingMessage } from 'node:http';

/** Names a request in the answer and in the log; a caller, or a proxy before us, may choose it. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Nothing that could end a line, a field or a header, and nothing long. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own id where it may be repeated as it is, else a new UUID. Fastify's `genReqId`: it is `request.id` from then on. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
