import { type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { LoopbackServer } from '../../libs/testing/src/wire/loopback-server.js';

interface Question {
  readonly method: string;
  readonly params: readonly { fromBlock: string; toBlock: string }[];
  readonly id: number;
}

/** A provider in front of a node that allows few blocks per request for logs, and refuses some requests with 429. */
export class LimitedNode extends LoopbackServer {
  /** Number of blocks in each request for logs. */
  readonly asked: number[] = [];
  private requests = 0;

  constructor(
    private readonly target: string,
    private readonly mostBlocks: number,
  ) {
    super();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { method, params, id } = JSON.parse(body) as Question;
    const json = { 'content-type': 'application/json' };
    this.requests += 1;
    if (this.requests % 17 === 0) {
      response.writeHead(429, json).end('{"error":"slow down"}');
      return;
    }
    if (method === 'eth_getLogs') {
      const [range] = params;
      const blocks = Number(range?.toBlock) - Number(range?.fromBlock) + 1;
      this.asked.push(blocks);
      if (blocks > this.mostBlocks) {
        const error = { code: -32_600, message: `at most ${this.mostBlocks} blocks` };
        response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
        return;
      }
    }
    const answer = await fetch(this.target, { method: 'POST', headers: json, body });
    response.writeHead(answer.status, json).end(await answer.text());
  }
}
