import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { type FastifyRequest } from 'fastify';
import { type ConsoleSettings } from '../console.env.js';
import { RedemptionService } from './redemption-service.js';

it('stops without what a hung service still owes', async () => {
  const hung = createServer((_, answer) => answer.write('{')).listen(0, '127.0.0.1');
  await once(hung, 'listening');
  const redemptionUrl = `http://127.0.0.1:${(hung.address() as AddressInfo).port}`;
  const service = new RedemptionService({ redemptionUrl } as ConsoleSettings);
  try {
    const request = { method: 'GET', headers: {}, ip: '203.0.113.7', id: 'a' };
    const asking = service.ask(request as unknown as FastifyRequest, '/api/chain');
    const refused = expect(asking).rejects.toMatchObject({ status: 503 });
    await once(hung, 'request');
    await service.onApplicationShutdown();
    await refused;
  } finally {
    hung.closeAllConnections();
    hung.close();
  }
});
