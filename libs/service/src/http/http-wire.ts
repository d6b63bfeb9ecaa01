import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type ClientErrors } from './client-errors.js';
import { type HttpProblem } from './http-problem.js';

/** The differences between the services on the common server: hooks, headers, and the envelope of errors. */
export interface HttpWire {
  /** Answers requests that Node could not parse; where absent, their connections are closed. */
  readonly clientErrors?: ClientErrors;
  /** Adds hooks and routes of the service, and can replace the parser for JSON bodies. */
  configure?(fastify: FastifyInstance): void;
  /** Adds the headers that every answer carries. Called last, with the body that will be sent. */
  complete(request: FastifyRequest, reply: FastifyReply, payload: unknown): void | Promise<void>;
  /** Converts an error to its answer; `problemFrom` handles the errors that the service does not know. */
  problemOf(error: unknown): HttpProblem;
  /** Renders the JSON body of an error answer. */
  bodyOf(problem: HttpProblem): string;
  /** Returns the reason to refuse a request whose path cannot be decoded; such a request reaches no hook. */
  refuse?(request: FastifyRequest): Promise<HttpProblem | undefined>;
  /** Called after the answer to a request whose path cannot be decoded was handed over. */
  answeredUnrouted?(request: FastifyRequest, reply: FastifyReply): void;
  /** Logs an error answer. Default: 500 and 503 with a cause are logged. */
  log?(problem: HttpProblem, error: unknown): void;
}
