/**
 * The HTTP server of every service: Nest on Fastify. Everything that Node or Fastify would answer by itself is turned off here,
 * or handed to the service's `HttpWire`, so that each answer has its envelope, its headers and its signature.
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
import { type HttpWire } from './http-wire.js';
import { ProblemFilter, sendProblem } from './problem.filter.js';
import { takeStrictJsonOnly } from './strict-json.js';

/** From the first byte of a request to its last. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the usual 60 s of load balancers, so that they close idle connections first. */
const KEEP_ALIVE_MS = 65_000;

export interface HttpAppOptions {
  readonly logger: Logger;
  readonly wire: (app: NestFastifyApplication) => HttpWire;
  /** Whether what is logged while a request is served carries its id, which is work for every answer. Default: true. */
  readonly followsRequests?: boolean;
  /** In place of what is set here. */
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
    // Requests on connections that are open when the service stops are still served.
    return503OnClosing: false,
    // There are no Nest middlewares.
    skipMiddie: true,
    ...server,
    http: {
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: REQUEST_TIMEOUT_MS / 2,
      // Node would answer a request without Host by itself.
      requireHostHeader: false,
      ...server.http,
    },
    clientErrorHandler: (error, socket) => {
      if (wire.clientErrors === undefined) socket.destroy();
      // Fastify declares the packet as the JSON form of a Buffer; Node hands over the Buffer.
      else wire.clientErrors.handle(error as Error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      answerUnrouted(wire, { error, request, reply }).catch(() => request.raw.destroy());
    },
  } as FastifyServerOptions);
  const fastify = adapter.getInstance();
  // Before the hooks of all others, Nest's included.
  if (followsRequests) nameRequests(fastify);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: new NestLogger(logger),
    abortOnError: false,
    bodyParser: false,
  });
  const wire = wireOf(app);
  takeStrictJsonOnly(fastify);
  wire.configure?.(fastify);
  fastify.addHook('onSend', async (request, reply, payload: unknown) => {
    await wire.complete(request, reply, payload);
    // While the server closes, a connection kept alive after its last answer would only hold it up.
    if (!fastify.server.listening) void reply.header('connection', 'close');
    return payload;
  });
  // Node answers an `Expect` it does not know with a bare 417; the header may as well be ignored (RFC 9110, 10.1.1).
  fastify.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    fastify.server.emit('request', request, response);
  });
  traceRequests(fastify);
  app.useGlobalFilters(new ProblemFilter(wire, logger));
  return app;
}

interface Unrouted {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A path that cannot be decoded reaches neither a route nor the hooks. */
async function answerUnrouted(wire: HttpWire, { error, request, reply }: Unrouted): Promise<void> {
  const problem = (await wire.refuse?.(request)) ?? wire.problemOf(error);
  const body = wire.bodyOf(problem);
  await wire.complete(request, reply, body);
  sendProblem(reply, problem, body);
  wire.answeredUnrouted?.(request, reply);
}
