import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpShutdown } from '../index.js';

let server: Server;
let agent: Agent;
let told: string[];
/** Answers the open request. */
let answer: () => void;

beforeEach(async () => {
  told = [];
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  server = createServer((request, response) => {
    if (request.url === '/slow') answer = () => response.end('slow');
    else response.end('quick');
  });
  server.keepAliveTimeout = 600_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  agent.destroy();
  server.closeAllConnections();
  server.close();
});

const shutdown = (hasLoadBalancer = false, opened: { close(): Promise<void> }[] = []) =>
  new HttpShutdown({
    host: { httpAdapter: { getHttpServer: () => server } },
    stopping: () => told.push('stopping'),
    health: { hasLoadBalancer },
    opened,
  });

async function ask(path = '/'): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const [response] = (await once(get({ port, path, agent, host: '127.0.0.1' }), 'response')) as [
    IncomingMessage,
  ];
  response.resume();
  await once(response, 'end');
  return response;
}

describe('HttpShutdown', () => {
  it('first says so, goes on serving for a load balancer, and tells clients to come by another connection', async () => {
    const one = shutdown(true);
    expect((await ask()).headers.connection).toBe('keep-alive');
    one.onModuleDestroy();
    expect(told).toEqual(['stopping']);
    let hasWaited = false;
    const waited = one.beforeApplicationShutdown().then(() => (hasWaited = true));
    expect((await ask()).headers.connection).toBe('close');
    expect((await ask()).statusCode).toBe(200);
    expect(hasWaited).toBe(false);
    await waited;
    await one.onApplicationShutdown();
  });

  it('lets a request that is under way finish, whose connection then holds up nothing', async () => {
    const one = shutdown();
    const arrived = once(server, 'request');
    const slow = ask('/slow');
    await arrived;
    one.onModuleDestroy();
    await one.beforeApplicationShutdown();
    const closed = once(server, 'close');
    server.close();
    answer();
    expect((await slow).statusCode).toBe(200);
    await closed;
    await one.onApplicationShutdown();
  });

  it('closes what was opened in its order, all of it, and says what went wrong', async () => {
    const closing = (name: string, fails = false) => ({
      close: () => {
        told.push(name);
        return fails ? Promise.reject(new Error(name)) : Promise.resolve();
      },
    });
    const one = shutdown(false, [
      closing('engine', true),
      closing('database'),
      closing('chain', true),
    ]);
    await expect(one.onApplicationShutdown()).rejects.toThrow('engine');
    expect(told).toEqual(['engine', 'database', 'chain']);
  });
});
