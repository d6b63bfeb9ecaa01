/** A partner on a real socket that answers a balance as a test says. Counts as a test file without being one. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { hmacSha256Hex, verifySignature } from '#libs/signing';

export interface Answer {
  readonly status?: number;
  readonly body: string;
  /** What is sent in place of the body. */
  readonly bytes?: Buffer;
  /** Default: what fits the body. */
  readonly signature?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Absent: it never answers. */
export type Behaviour = (request: IncomingMessage, path: string) => Answer | undefined;

export class PingedPartner {
  behave: Behaviour = () => undefined;
  /** Whether the newest request was signed as it should be. */
  wasSigned = false;
  requestId = '';

  private constructor(
    private readonly server: Server,
    private readonly secret: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.serve(request, response);
    });
  }

  static async start(secret: string): Promise<PingedPartner> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new PingedPartner(server, secret);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/game/v1`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const [path = ''] = (request.url ?? '').split('?');
    this.requestId = String(request.headers['x-api-request']);
    const head = `${request.method ?? ''}${path}${this.requestId}`;
    this.wasSigned = verifySignature(
      this.secret,
      head,
      request.headers['x-api-signature'] as string | undefined,
    );
    const answer = this.behave(request, path);
    if (answer === undefined) return;
    const { status = 200, body, bytes = body, headers } = answer;
    const signature =
      'signature' in answer ? answer.signature : hmacSha256Hex(this.secret, head + body);
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(signature !== undefined && { 'x-api-signature': signature }),
      ...headers,
    });
    response.end(bytes);
  }
}
