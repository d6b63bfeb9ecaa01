import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { becomes } from './event-client.support-spec.js';
import { EventStream, eventText, type StreamEnd } from './event-stream.js';

let server: Server;
let streams: EventStream[];
let ended: StreamEnd[];
let heartbeatMs: number;

beforeEach(async () => {
  [streams, ended, heartbeatMs] = [[], [], 60_000];
  server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    streams.push(new EventStream(response, (by) => ended.push(by), { heartbeatMs }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  for (const stream of streams) stream.end('shutdown');
  server.closeAllConnections();
  server.close();
});

async function connect(): Promise<{ response: IncomingMessage; stream: EventStream }> {
  const { port } = server.address() as AddressInfo;
  const request = get({ port, host: '127.0.0.1', agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const stream = streams.at(-1);
  if (stream === undefined) throw new Error('there is no stream');
  return { response, stream };
}

function textOf(response: IncomingMessage): () => string {
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => (text += part));
  return () => text;
}

describe('EventStream', () => {
  it('gives the id with the last of the events that belong together', async () => {
    const { response, stream } = await connect();
    const text = textOf(response);
    stream.send([eventText('a', { x: 'line\nline' }), eventText('b', {})], '7');
    stream.end('session');
    await once(response, 'end');
    expect(text()).toBe(
      'retry: 2000\n\nevent: a\ndata: {"x":"line\\nline"}\n\nevent: b\ndata: {}\nid: 7\n\n',
    );
    expect(ended).toEqual(['session']);
  });

  it('is kept open by comments, which bear the id that was reached in silence', async () => {
    heartbeatMs = 5;
    const { response, stream } = await connect();
    const text = textOf(response);
    await becomes(() => {
      expect(text()).toContain('\n\n:\n\n');
    });
    stream.send([], '8');
    await becomes(() => {
      expect(text()).toContain('\n\n:\nid: 8\n\n');
    });
  });

  it('ends with its client', async () => {
    const { response } = await connect();
    response.destroy();
    await becomes(() => {
      expect(ended).toEqual(['client']);
    });
  });

  it('cuts off a client that does not read, before much is kept for it', async () => {
    const { response, stream } = await connect();
    response.pause();
    const event = eventText('a', { x: 'x'.repeat(16_384) });
    // The sockets of both sides buffer some megabytes before the stream has unsent data.
    for (let sent = 0; sent < 4096 && ended.length === 0; sent++) {
      stream.send([event], String(sent));
      if (sent % 8 === 0) await new Promise(setImmediate);
    }
    expect(ended).toEqual(['slow']);
  });

  it('cuts off a client that has taken nothing between two heartbeats', async () => {
    heartbeatMs = 5;
    const { response, stream } = await connect();
    response.pause();
    const event = eventText('a', { x: 'x'.repeat(32_768) });
    await becomes(() => {
      if (ended.length === 0) stream.send([event], '1');
      expect(ended).toEqual(['slow']);
    });
  });
});
