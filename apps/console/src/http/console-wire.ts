import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import {
  answerWithId,
  ClientErrors,
  type HttpProblem,
  type HttpWire,
  JSON_TYPE,
  problemFrom,
  REQUEST_ID_HEADER,
} from '#libs/service';
import { type SignInLimits } from '#libs/sign-in';
import { type ConsoleSettings } from '../console.env.js';

export const MAX_BODY_BYTES = 64 * 1024;

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
};
const NOTHING_LOADS = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";
/** Two years, in seconds; see https://hstspreload.org. */
const HSTS = 'max-age=63072000';

/** JSON requests and answers, with every error in the same envelope. */
export class ConsoleWire implements HttpWire {
  private readonly headers: Readonly<Record<string, string>>;

  constructor(
    { consoleOrigin }: ConsoleSettings,
    private readonly limits: SignInLimits,
  ) {
    this.headers = {
      ...SECURITY_HEADERS,
      ...(consoleOrigin.startsWith('https:') && { 'strict-transport-security': HSTS }),
    };
  }

  readonly problemOf = problemFrom;

  readonly clientErrors = new ClientErrors(({ status, requestId }) => ({
    status,
    headers: {
      ...this.headers,
      'cache-control': 'no-store',
      'content-security-policy': NOTHING_LOADS,
      [REQUEST_ID_HEADER]: requestId,
      'content-type': JSON_TYPE,
    },
    body: this.bodyOf(problemFrom({ statusCode: status })),
  }));

  configure(fastify: FastifyInstance): void {
    this.limits.countBodies(fastify);
  }

  complete(request: FastifyRequest, reply: FastifyReply): void {
    answerWithId(request, reply);
    void reply.headers(this.headers);
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
    if (!reply.hasHeader('content-security-policy')) {
      void reply.header('content-security-policy', NOTHING_LOADS);
    }
  }

  bodyOf({ code, message, field }: HttpProblem): string {
    return JSON.stringify({ success: false, code, message, ...(field !== undefined && { field }) });
  }
}
