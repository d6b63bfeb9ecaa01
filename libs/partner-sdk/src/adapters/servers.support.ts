/** The adapters on real servers, set up as in a game. Treated as a test file, but holds no tests. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { Module, type NestApplicationOptions } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import fastify from 'fastify';
import {
  expressCallbacks,
  fastifyCallbacks,
  fetchCallbacks,
  PartnerCallbacksModule,
} from '../index.js';
import { type Game } from '../testing/caller.support.js';

export interface Running {
  readonly port: number;
  close(): Promise<unknown>;
}

/** Serves what the handler answers. */
export async function listening(handler: RequestListener): Promise<Running> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(resolve)) };
}

function keepBytes(request: IncomingMessage, _: unknown, bytes: Buffer): void {
  Object.assign(request, { rawBody: bytes });
}

async function nest(module: object, prefix?: string): Promise<Running> {
  return nestOn(new FastifyAdapter(), module, { prefix });
}

async function nestOn(
  adapter: AbstractHttpAdapter,
  module: object,
  { prefix, ...options }: NestApplicationOptions & { prefix?: string | undefined } = {},
): Promise<Running> {
  @Module({ imports: [module as never] })
  class App {}
  const app = await NestFactory.create(App, adapter, { logger: false, ...options });
  if (prefix !== undefined) app.setGlobalPrefix(prefix);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { port, close: () => app.close() };
}

async function onFastify(game: Game, options: { prefix?: string }): Promise<Running> {
  // The limit of the callbacks counts, not that of the server.
  const app = fastify({ bodyLimit: 500 });
  // A hook with which a game changes the answers of its own API.
  app.addHook('onSend', (_, __, payload, done) => {
    done(null, `${String(payload)} `);
  });
  await app.register(fastifyCallbacks(game.options, game.handlers), options);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return { port, close: () => app.close() };
}

interface Adapter {
  readonly prefix: string;
  /** Whether a parser of JSON reads the body before the callbacks. */
  readonly hasParserInFront?: true;
  readonly start: (game: Game) => Promise<Running>;
}

export const ADAPTERS: Readonly<Record<string, Adapter>> = {
  'Express, mounted at a path': {
    prefix: '/game/v1',
    start: ({ options, handlers }) =>
      listening(
        express().use('/game', express.Router().use('/v1', expressCallbacks(options, handlers))),
      ),
  },
  'Express, with a base path': {
    prefix: '/game',
    start: ({ options, handlers }) =>
      listening(express().use(expressCallbacks({ ...options, basePath: '/game' }, handlers))),
  },
  'Express 4, mounted at a path': {
    prefix: '/game/v1',
    start: ({ options, handlers }) => {
      // The types of Express 5 fit the functions that both versions have.
      const express4 = createRequire(import.meta.url)('express4') as typeof express;
      const router = express4.Router().use('/v1', expressCallbacks(options, handlers));
      return listening(express4().use('/game', router));
    },
  },
  'Express behind a parser that keeps the bytes': {
    prefix: '',
    hasParserInFront: true,
    start: ({ options, handlers }) => {
      const app = express().use(express.json({ verify: keepBytes }));
      return listening(app.use(expressCallbacks(options, handlers)));
    },
  },
  'Express behind express.raw()': {
    prefix: '',
    start: ({ options, handlers }) => {
      const app = express().use(express.raw({ type: 'application/json' }));
      return listening(app.use(expressCallbacks(options, handlers)));
    },
  },
  "Node's own server": {
    prefix: '/game',
    start: ({ options, handlers }) => listening(expressCallbacks(options, handlers)),
  },
  'Fastify, with a prefix': {
    prefix: '/game',
    start: (game) => onFastify(game, { prefix: '/game' }),
  },
  Fastify: { prefix: '', start: (game) => onFastify(game, {}) },
  'NestJS on Express, with the raw body': {
    prefix: '',
    hasParserInFront: true,
    start: ({ options, handlers }) =>
      nestOn(new ExpressAdapter(), PartnerCallbacksModule.forRoot({ ...options, handlers }), {
        rawBody: true,
      }),
  },
  'NestJS on Express, without a parser': {
    prefix: '/game/v1',
    start: ({ options, handlers }) =>
      nestOn(
        new ExpressAdapter(),
        PartnerCallbacksModule.forRoot({ ...options, handlers, basePath: '/v1' }),
        { bodyParser: false, prefix: 'game' },
      ),
  },
  'NestJS on Fastify': {
    prefix: '',
    start: ({ options, handlers }) =>
      nest(PartnerCallbacksModule.forRoot({ ...options, handlers })),
  },
  'NestJS on Fastify, with a global prefix, a base path and a factory': {
    prefix: '/game/v1',
    start: ({ options, handlers }) => {
      const useFactory = (): Promise<object> => Promise.resolve(handlers);
      @Module({ providers: [{ provide: 'game', useFactory }], exports: ['game'] })
      class GameModule {}
      const module = PartnerCallbacksModule.forRootAsync({
        imports: [GameModule],
        inject: ['game'],
        useFactory: (injected: typeof handlers) => ({
          ...options,
          basePath: '/v1',
          handlers: injected,
        }),
      });
      return nest(module, 'game');
    },
  },
  'Fetch API': {
    prefix: '/game',
    start: ({ options, handlers }) => {
      const answer = fetchCallbacks(options, handlers);
      return listening((incoming, response) => {
        const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
        const request = new Request(`http://127.0.0.1${incoming.url ?? ''}`, {
          method: incoming.method ?? '',
          headers: incoming.headers as Record<string, string>,
          ...(hasBody && { body: Readable.toWeb(incoming) as never, duplex: 'half' }),
        });
        void answer(request).then(async (given) => {
          response.writeHead(given.status, Object.fromEntries(given.headers));
          response.end(Buffer.from(await given.arrayBuffer()));
        });
      });
    },
  },
};
