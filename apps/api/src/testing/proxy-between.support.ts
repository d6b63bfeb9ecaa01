/**
 * A proxy between a partner and the API that changes questions, and sends other answers than those that came. Named so
 * that it counts as a test file, but holds no tests.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { StakingClient, type StakingClientOptions } from '#libs/partner-sdk';
import { type MintedCredential } from '#libs/signing';
import { type Api } from './api-harness.support.js';

/** A request as it goes to the API. */
export interface Question {
  /** Path and query. */
  readonly target: string;
  /** Empty for a GET. */
  readonly body: string;
}

/** An answer of the API with its signatures. */
export interface SignedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export class ProxyBetween {
  /** Changes what the API is asked. */
  question = (asked: Question): Question => asked;
  /** Chooses what the partner gets. */
  answer = (given: SignedAnswer): SignedAnswer => given;
  /** The answers of the API, oldest first. */
  readonly given: SignedAnswer[] = [];

  private constructor(
    private readonly server: Server,
    private readonly api: Api,
  ) {}

  static async start(api: Api): Promise<ProxyBetween> {
    const server = createServer((request, response) => {
      void proxy.pass(request).then(({ status, headers, body }) => {
        response.writeHead(status, Object.fromEntries(headers)).end(body);
      });
    });
    const proxy = new ProxyBetween(server, api);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** A partner's client that reaches the API through this proxy. @param options its clock, among others */
  client(credential: MintedCredential, options: Partial<StakingClientOptions>): StakingClient {
    return new StakingClient({ baseUrl: this.url, ...credential, retries: 0, ...options });
  }

  /** Passes everything on unchanged from now on, and forgets the answers. */
  reset(): void {
    this.question = (asked) => asked;
    this.answer = (given) => given;
    this.given.length = 0;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async pass(request: IncomingMessage): Promise<SignedAnswer> {
    const { method = '', url = '' } = request;
    const { target, body } = this.question({ target: url, body: await text(request) });
    const headers = new Headers();
    for (const name of ['x-api-key', 'content-type', 'accept-encoding', 'accept-signature']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const sent = method === 'GET' ? {} : { body };
    const response = await fetch(this.api.url + target, { method, headers, ...sent });
    const bytes = Buffer.from(await response.arrayBuffer());
    const kept = new Headers(response.headers);
    for (const name of ['connection', 'keep-alive', 'transfer-encoding']) kept.delete(name);
    const given = { status: response.status, headers: kept, body: bytes };
    this.given.push(given);
    return this.answer(given);
  }
}
