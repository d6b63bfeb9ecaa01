/** A game with its books in memory, on a real socket: as honest as can be unless it is told to behave otherwise. Counts as a test file without being one. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson, signedContent } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';

export const CALLBACK_KEY = 'key-of-the-game-0001';
export const CALLBACK_SECRET = 'svcs_secret-of-the-game-for-tests';

type Json = Readonly<Record<string, unknown>>;

export interface Call {
  readonly path: string;
  /** Of a GET: its query. */
  readonly body: Json;
}

/** What an answer is made of; undefined leaves the call without one. */
export type Behaviour = (
  call: Call,
) => { readonly status?: number; readonly body: object; readonly signed?: boolean } | undefined;

/** What becomes of one call: done, and its answer lost; not even done; or answered with this body. */
export type Mishap = 'lose-answer' | 'drop' | ((body: Json) => Json);

interface Deduction {
  readonly points: number;
  readonly transactionId: string;
  reverted: boolean;
}

export class GameServer {
  readonly points = new Map<string, number>();
  readonly deductions = new Map<string, Deduction>();
  readonly confirmations: Json[] = [];
  /** In the order they came. */
  readonly calls: Call[] = [];
  /** Before each answer. */
  delayMs = 0;
  behave: Behaviour = (call) => ({ body: this.play(call) });
  private readonly mishaps: { readonly path: string; readonly mishap: Mishap }[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(): Promise<GameServer> {
    const server = createServer();
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    return new GameServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  /** For the next calls of an endpoint, one after the other; then all is well again. */
  next(endpoint: 'deduct' | 'revert' | 'confirm' | 'get', ...mishaps: Mishap[]): void {
    for (const mishap of mishaps) this.mishaps.push({ path: `/${endpoint}-`, mishap });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname: path, searchParams } = new URL(request.url ?? '/', this.url);
    const text = Buffer.concat(chunks).toString();
    const body = (text === '' ? Object.fromEntries(searchParams) : JSON.parse(text)) as Json;
    const call = { path, body };
    this.calls.push(call);
    const mishap = this.mishapOf(path);
    const answer =
      mishap === 'drop'
        ? undefined
        : typeof mishap === 'function'
          ? { body: mishap(body) }
          : this.behave(call);
    await sleep(this.delayMs);
    if (mishap === 'drop' || mishap === 'lose-answer') request.socket.destroy();
    else if (answer !== undefined) reply(request, response, { path, ...answer });
  }

  private mishapOf(path: string): Mishap | undefined {
    const at = this.mishaps.findIndex((one) => path.startsWith(one.path));
    return at < 0 ? undefined : this.mishaps.splice(at, 1)[0]?.mishap;
  }

  private play({ path, body }: Call): Json {
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

function reply(
  { method = 'GET', headers }: IncomingMessage,
  response: ServerResponse,
  answer: { readonly path: string } & NonNullable<ReturnType<Behaviour>>,
): void {
  const { path, status = 200, body, signed = true } = answer;
  const text = canonicalJson(body);
  const requestId = String(headers['x-api-request']);
  const content = signedContent({ method, path, requestId, body: text });
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(signed && { 'x-api-signature': hmacSha256Hex(CALLBACK_SECRET, content) }),
  });
  response.end(text);
}

export function refusal(errorCode: string): Json {
  return { success: false, errorCode, errorMessage: 'as the game has it' };
}
