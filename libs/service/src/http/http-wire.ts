import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type ClientErrors } from './client-errors.js';
import { type HttpProblem } from './http-problem.js';

/** What the services do differently on one and the same server: their hooks, their headers, their envelope of errors. */
export interface HttpWire {
  /** Answer what could not be parsed; absent: its connection is closed. */
  readonly clientErrors?: ClientErrors;
  /** Puts hooks and routes of its own on the server, and body parsers in place of the one for JSON. */
  configure?(fastify: FastifyInstance): void;
  /** Adds the headers that every answer carries. Called last of all, with the body that will be sent. */
  complete(request: FastifyRequest, reply: FastifyReply, payload: unknown): void | Promise<void>;
  /** See `problemFrom`, which knows what is not of the service itself. */
  problemOf(error: unknown): HttpProblem;
  /** As JSON. */
  bodyOf(problem: HttpProblem): string;
  /** Why a request may not go on that reaches no hook, as its path cannot be decoded. */
  refuse?(request: FastifyRequest): Promise<HttpProblem | undefined>;
  /** Told of the answer to such a request, after it was handed over. */
  answeredUnrouted?(request: FastifyRequest, reply: FastifyReply): void;
  /** Absent: failures of our own are logged. */
  log?(problem: HttpProblem, error: unknown): void;
}
