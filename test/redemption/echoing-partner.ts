import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { hmacSha256Hex } from '#libs/signing';

/** How it goes wrong, or not. */
export type Mode = 'honest' | 'unsigned' | 'refusing' | 'broken';

/**
 * A partner that says everything it knows in every answer: the headers it got and the secret it was given, in fields and in header
 * lines, whole and cut.
 */
export class EchoingPartner {
  mode: Mode = 'honest';
  /** Whether balances are told honestly in any mode: without one nothing can be redeemed. */
  readsHonestly = false;
  readonly calls: string[] = [];
  /** Of all calls. */
  readonly headerNames = new Set<string>();

  private constructor(
    private readonly server: Server,
    private readonly secret: string,
  ) {}

  static async start(secret: string): Promise<EchoingPartner> {
    const server = createServer();
    const partner = new EchoingPartner(server, secret);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      request.resume().on('end', () => {
        partner.answer(request, response);
      });
    });
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    return partner;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', headers } = request;
    const url = new URL(request.url ?? '/', this.url);
    this.calls.push(url.pathname);
    for (const name of Object.keys(headers)) this.headerNames.add(name);
    const gossip = {
      yourHeaders: headers,
      yourSecret: this.secret,
      escaped: JSON.stringify({ secret: this.secret }),
    };
    const isRead = url.pathname === '/get-points-by-address';
    const mode = isRead && this.readsHonestly ? 'honest' : this.mode;
    const honest = isRead
      ? { partnerUserId: 'u', address: url.searchParams.get('address'), points: 1000, chain: 'x' }
      : {
          partnerTransactionId: `tx-${headers['x-api-request'] as string}`,
          partnerRevertId: 'r',
        };
    const refused = {
      success: false,
      errorCode: 'ERR-AUTH-FAILED',
      errorMessage: `No: ${String(headers['x-api-key'])} ${this.secret} ${String(headers['x-api-signature'])}`,
    };
    const body = JSON.stringify({
      ...gossip,
      ...(mode === 'refusing' ? refused : { success: true, ...honest }),
    });
    const text = mode === 'broken' ? body.slice(0, -1) : body;
    const content = `${method}${url.pathname}${String(headers['x-api-request'])}${text}`;
    response.writeHead(200, {
      'content-type': 'application/json',
      server: `Game ${this.secret} ${String(headers['x-api-key'])}`,
      ...(mode !== 'unsigned' && { 'x-api-signature': hmacSha256Hex(this.secret, content) }),
    });
    response.end(text);
  }
}
