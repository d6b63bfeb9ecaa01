/** A partner with players in memory, on a real socket, that can be told to fail. Counts as a test file without being one. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { canonicalJson } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';

export const CALLBACK_KEY = 'key-of-the-game';
export const CALLBACK_SECRET = 'svcs_secret-of-the-game-for-tests';

/** What an answer is made of; undefined leaves the call without one. */
export type Behaviour = (call: {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}) => { readonly status?: number; readonly body: object; readonly signed?: boolean } | undefined;

export class GameServer {
  readonly points = new Map<string, number>();
  /** Of each answer. */
  delayMs = 0;
  behave: Behaviour = (call) => this.play(call);

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(): Promise<GameServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new GameServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', this.url);
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? Object.fromEntries(url.searchParams) : JSON.parse(text);
    const answer = this.behave({ path: url.pathname, body });
    if (answer === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    const sent = canonicalJson(answer.body);
    const content = `${request.method ?? ''}${url.pathname}${String(request.headers['x-api-request'])}${sent}`;
    response.writeHead(answer.status ?? 200, {
      'content-type': 'application/json',
      ...(answer.signed !== false && {
        'x-api-signature': hmacSha256Hex(CALLBACK_SECRET, content),
      }),
    });
    response.end(sent);
  }

  private play({ path, body }: Parameters<Behaviour>[0]): ReturnType<Behaviour> {
    const address = String(body['address']);
    const had = this.points.get(address);
    if (path === '/get-points-by-address') {
      if (had === undefined) return { body: refusal('ERR-USER-NOT-FOUND') };
      const player = { partnerUserId: 'user-1', address, points: had, chain: 'local' };
      return { body: { success: true, ...player } };
    }
    const id = String(body['svcRedemptionId']);
    const points = Number(body['deductPoints']);
    if (path === '/deduct-points-by-address') {
      if (had === undefined || had < points) return { body: refusal('ERR-INSUFFICIENT-POINTS') };
      this.points.set(address, had - points);
      return { body: { success: true, partnerTransactionId: `ptx_${id}` } };
    }
    if (path === '/revert-deduct-points') {
      this.points.set(address, (had ?? 0) + points);
      const ids = { partnerTransactionId: `ptx_${id}`, partnerRevertId: `prv_${id}` };
      return { body: { success: true, ...ids } };
    }
    return { body: { success: true } };
  }
}

export function refusal(errorCode: string): object {
  return { success: false, errorCode, errorMessage: 'refused' };
}
