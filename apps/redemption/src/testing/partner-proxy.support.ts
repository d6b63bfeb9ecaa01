/**
 * A proxy before a partner that may answer in its place. It does not have the partner's secret. Named as a test file,
 * without tests of its own.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { canonicalJson } from '#libs/domain';

export interface ProxiedCall {
  readonly path: string;
  /** Lets the partner perform the call. */
  forward(): Promise<ProxiedAnswer>;
}

export interface ProxiedAnswer {
  readonly status: number;
  readonly body: string;
  readonly signature: string | null;
}

export class PartnerProxy {
  answer: (call: ProxiedCall) => Promise<ProxiedAnswer> = (call) => call.forward();

  private constructor(
    private readonly server: Server,
    private readonly partnerUrl: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async before(partnerUrl: string): Promise<PartnerProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PartnerProxy(server, partnerUrl);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url: target = '/', headers } = request;
    const forward = async (): Promise<ProxiedAnswer> => {
      const answer = await fetch(this.partnerUrl + target, {
        method,
        headers: {
          'content-type': 'application/json',
          'x-api-key': String(headers['x-api-key']),
          'x-api-request': String(headers['x-api-request']),
          'x-api-signature': String(headers['x-api-signature']),
        },
        ...(method === 'POST' && { body: Buffer.concat(chunks) }),
      });
      const signature = answer.headers.get('x-api-signature');
      return { status: answer.status, body: await answer.text(), signature };
    };
    const { pathname: path } = new URL(target, this.partnerUrl);
    const { status, body, signature } = await this.answer({ path, forward });
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(signature !== null && { 'x-api-signature': signature }),
    });
    response.end(body);
  }
}

/** An error envelope that nobody signed. */
export function inventedRefusal(errorCode: string, status = 422): ProxiedAnswer {
  const body = canonicalJson({ success: false, errorCode, errorMessage: 'No.' });
  return { status, body, signature: null };
}
