/** A game partner with its books in memory, on a real socket: honest unless a test tells it to behave otherwise. */
import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';

export const CALLBACK_KEY = 'key-of-the-game-0001';
export const CALLBACK_SECRET = 'svcs_secret-of-the-game-for-tests';

type Json = Readonly<Record<string, unknown>>;

export interface PartnerCall {
  readonly path: string;
  /** Of a GET: its query. */
  readonly body: Json;
  readonly headers: IncomingHttpHeaders;
  /** What an answer's signature is over, before the body. */
  readonly signedHead: string;
  /** As it came, with the query. */
  readonly target: string;
}

export interface PartnerAnswer {
  readonly status?: number;
  /** A text is sent as it is, an object in its canonical form. */
  readonly body: object | string;
  /** What is sent in place of the body that is signed. */
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the right one; null: none. */
  readonly signature?: string | null;
}

/** Undefined leaves the call without an answer. */
export type PartnerBehaviour = (call: PartnerCall) => PartnerAnswer | undefined;

/** What becomes of one call: done, and its answer lost; not even done; or answered with this body. */
export type Mishap = 'lose-answer' | 'drop' | ((body: Json) => Json);

interface Deduction {
  readonly points: number;
  readonly transactionId: string;
  reverted: boolean;
}

export class FakePartner {
  readonly points = new Map<string, number>();
  readonly deductions = new Map<string, Deduction>();
  readonly confirmations: Json[] = [];
  /** In the order they came. */
  readonly calls: PartnerCall[] = [];
  /** Before each answer. */
  delayMs = 0;
  behave: PartnerBehaviour = (call) => ({ body: this.play(call) });
  private readonly mishaps: { readonly path: string; readonly mishap: Mishap }[] = [];

  private constructor(
    private readonly server: Server,
    private readonly secret: string,
    private readonly basePath: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  /** @param basePath of its URL; its own books know the endpoints without one */
  static async start(secret = CALLBACK_SECRET, basePath = ''): Promise<FakePartner> {
    const server = createServer();
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    return new FakePartner(server, secret, basePath);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${this.basePath}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  /** For the next calls of an endpoint, one after the other; then all is well again. */
  next(endpoint: 'deduct' | 'revert' | 'confirm' | 'get', ...mishaps: Mishap[]): void {
    for (const mishap of mishaps) this.mishaps.push({ path: `/${endpoint}-`, mishap });
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = 'GET', url: target = '/', headers } = incoming;
    const { pathname: path, searchParams } = new URL(target, this.url);
    const text = Buffer.concat(chunks).toString();
    const body = (text === '' ? Object.fromEntries(searchParams) : JSON.parse(text)) as Json;
    const signedHead = `${method}${path}${String(headers['x-api-request'])}`;
    const call = { path, body, headers, signedHead, target };
    this.calls.push(call);
    const mishap = this.mishapOf(path);
    const answer =
      mishap === 'drop'
        ? undefined
        : typeof mishap === 'function'
          ? { body: mishap(body) }
          : this.behave(call);
    await sleep(this.delayMs);
    if (mishap === 'drop' || mishap === 'lose-answer') incoming.socket.destroy();
    else if (answer !== undefined) this.reply(response, signedHead, answer);
  }

  private reply(response: ServerResponse, signedHead: string, answer: PartnerAnswer): void {
    const { status = 200, body, headers } = answer;
    const text = typeof body === 'string' ? body : canonicalJson(body);
    const { bytes = text, signature = hmacSha256Hex(this.secret, signedHead + text) } = answer;
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(signature !== null && { 'x-api-signature': signature }),
      ...headers,
    });
    response.end(bytes);
  }

  private mishapOf(path: string): Mishap | undefined {
    const at = this.mishaps.findIndex((one) => path.startsWith(one.path));
    return at < 0 ? undefined : this.mishaps.splice(at, 1)[0]?.mishap;
  }

  private play({ path, body }: PartnerCall): Json {
    const wallet = String(body['address']).toLowerCase();
    switch (path) {
      case '/get-points-by-address': {
        const points = this.points.get(wallet);
        if (points === undefined) return refusal('ERR-USER-NOT-FOUND');
        return { success: true, partnerUserId: 'user-1', address: wallet, points, chain: 'local' };
      }
      case '/deduct-points-by-address':
        return this.deduct(wallet, body);
      case '/revert-deduct-points':
        return this.revert(wallet, body);
      default:
        this.confirmations.push(body);
        return { success: true };
    }
  }

  /** Takes the points of a call, for an answer that says something else. */
  take(body: Json): void {
    this.deduct(String(body['address']).toLowerCase(), body);
  }

  private deduct(wallet: string, body: Json): Json {
    const id = String(body['svcRedemptionId']);
    const points = Number(body['deductPoints']);
    const earlier = this.deductions.get(id);
    if (earlier !== undefined) {
      const { transactionId: partnerTransactionId } = earlier;
      return { ...refusal('ERR-DUPLICATE-REQUEST'), partnerTransactionId };
    }
    const had = this.points.get(wallet);
    if (had === undefined) return refusal('ERR-USER-NOT-FOUND');
    if (had < points) return refusal('ERR-INSUFFICIENT-POINTS');
    this.points.set(wallet, had - points);
    const transactionId = `ptx_${randomUUID()}`;
    this.deductions.set(id, { points, transactionId, reverted: false });
    return { success: true, partnerTransactionId: transactionId };
  }

  private revert(wallet: string, body: Json): Json {
    const deduction = this.deductions.get(String(body['svcRedemptionId']));
    if (deduction === undefined) return refusal('ERR-TRANSACTION-NOT-FOUND');
    if (deduction.reverted) return refusal('ERR-ALREADY-REVERTED');
    if (deduction.points !== body['deductPoints']) return refusal('ERR-INVALID-AMOUNT');
    deduction.reverted = true;
    this.points.set(wallet, (this.points.get(wallet) ?? 0) + deduction.points);
    const { transactionId: partnerTransactionId } = deduction;
    return { success: true, partnerTransactionId, partnerRevertId: `prv_${randomUUID()}` };
  }
}

export function refusal(errorCode: string): Json {
  return { success: false, errorCode, errorMessage: 'as the game has it' };
}
