/**
 * The HTTP server of every service: Nest on Fastify. All answers that Node or Fastify would write by themselves are
 * turned off or passed to the service's `HttpWire`, so that each answer has its envelope, headers and signature.
 */
import { type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyReply, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import { type Logger } from '#libs/platform';
import { traceRequests } from '#libs/telemetry';
import { NestLogger } from '../logger/nest-logger.js';
import { nameRequests, requestIdOf } from '../request-id/request-id.js';
import { applyBodyLimits } from './body-limit.js';
import { type HttpWire } from './http-wire.js';
import { ProblemFilter, sendProblem } from './problem.filter.js';
import { takeStrictJsonOnly } from './strict-json.js';

/** Time from the first byte of a request to its last. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Rest of a body that is read and discarded after an answer that did not need it, so that the connection can be kept. */
const MAX_DISCARDED_BYTES = 64 * 1024;
/** Longer than the usual 60 s of load balancers, so that they close idle connections first. */
const KEEP_ALIVE_MS = 65_000;

export interface HttpAppOptions {
  readonly logger: Logger;
  readonly wire: (app: NestFastifyApplication) => HttpWire;
  /** Whether log lines carry the id of the current request, which costs time for every answer. Default: true. */
  readonly followsRequests?: boolean;
  /** Overrides of the server options that this file sets. */
  readonly server?: FastifyServerOptions & {
    readonly http?: ServerOptions;
    readonly skipMiddie?: boolean;
  };
}

export async function createHttpApp(
  module: DynamicModule,
  { logger, wire: wireOf, followsRequests = true, server = {} }: HttpAppOptions,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    genReqId: requestIdOf,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Requests on open connections are served while the service stops.
    return503OnClosing: false,
    // There are no Nest middlewares.
    skipMiddie: true,
    ...server,
    http: {
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: REQUEST_TIMEOUT_MS / 2,
      // Node would answer a request without `Host` by itself.
      requireHostHeader: false,
      ...server.http,
    },
    clientErrorHandler: (error, socket) => {
      if (wire.clientErrors === undefined) socket.destroy();
      // Fastify declares the packet as the JSON form of a Buffer; Node hands over the Buffer.
      else wire.clientErrors.handle(error as Error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      answerUndecodablePath(wire, { error, request, reply }).catch(() => request.raw.destroy());
    },
  } as FastifyServerOptions);
  const fastify = adapter.getInstance();
  // Runs before all other hooks, including Nest's.
  if (followsRequests) nameRequests(fastify);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: new NestLogger(logger),
    abortOnError: false,
    bodyParser: false,
  });
  const wire = wireOf(app);
  takeStrictJsonOnly(fastify);
  applyBodyLimits(fastify);
  wire.configure?.(fastify);
  fastify.addHook('onSend', async (request, reply, payload: unknown) => {
    await wire.complete(request, reply, payload);
    // A kept-alive connection would delay the close of the server after its last answer.
    if (!fastify.server.listening || hasLongRest(request.raw)) {
      void reply.header('connection', 'close');
    }
    return payload;
  });
  // Node would answer an unknown `Expect` with a bare 417. RFC 9110, 10.1.1 allows to ignore this header.
  fastify.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    fastify.server.emit('request', request, response);
  });
  traceRequests(fastify);
  app.useGlobalFilters(new ProblemFilter(wire, logger));
  return app;
}

/** Whether an unread body is too long, or of unknown length, to be discarded. */
function hasLongRest({ headers, complete }: IncomingMessage): boolean {
  if (complete) return false;
  const bytes = Number(headers['content-length'] ?? 0);
  return headers['transfer-encoding'] !== undefined || bytes > MAX_DISCARDED_BYTES;
}

interface Unrouted {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Answers a path that cannot be decoded; such a request reaches neither routes nor hooks. */
async function answerUndecodablePath(
  wire: HttpWire,
  { error, request, reply }: Unrouted,
): Promise<void> {
  const problem = (await wire.refuse?.(request)) ?? wire.problemOf(error);
  const body = wire.bodyOf(problem);
  await wire.complete(request, reply, body);
  sendProblem(reply, problem, body);
  wire.answeredUnrouted?.(request, reply);
}
