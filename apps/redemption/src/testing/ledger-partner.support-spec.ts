/** A game with a ledger, as honest as can be unless it is told to behave otherwise. Counts as a test file without being one. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { canonicalJson, signedContent } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';

export const PARTNER_KEY = 'key-of-the-game-0001';
export const PARTNER_SECRET = 'secret-of-the-game-0001';

type Json = Readonly<Record<string, unknown>>;

/** What becomes of one call: done as it should be; done, and the answer lost; not even done; or another answer. */
export type Behaviour = 'honest' | 'lose-answer' | 'drop' | ((body: Json) => Json);

interface Deduction {
  readonly wallet: string;
  readonly points: number;
  readonly transactionId: string;
  reverted: boolean;
}

export class LedgerPartner {
  readonly points = new Map<string, number>();
  readonly deductions = new Map<string, Deduction>();
  readonly confirmations: Json[] = [];
  /** Every call's path and body, in the order they came. */
  readonly calls: { readonly path: string; readonly body: Json }[] = [];
  /** For the next calls of a path; then it is honest again. */
  readonly behaviours: { readonly path: string; readonly behaviour: Behaviour }[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<LedgerPartner> {
    const server = createServer();
    const partner = new LedgerPartner(server);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void partner.answer(request, response);
    });
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    return partner;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  next(path: 'deduct' | 'revert' | 'confirm' | 'get', ...behaviours: Behaviour[]): void {
    for (const behaviour of behaviours) this.behaviours.push({ path, behaviour });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', this.url);
    const text = Buffer.concat(chunks).toString();
    const body = (text === '' ? Object.fromEntries(url.searchParams) : JSON.parse(text)) as Json;
    this.calls.push({ path: url.pathname, body });
    const behaviour = this.behaviourOf(url.pathname);
    if (behaviour === 'drop') {
      request.socket.destroy();
      return;
    }
    const answer =
      typeof behaviour === 'function' ? behaviour(body) : this.handle(url.pathname, body);
    if (behaviour === 'lose-answer') {
      request.socket.destroy();
      return;
    }
    const { method = 'GET' } = request;
    const requestId = String(request.headers['x-api-request']);
    const content = canonicalJson(answer);
    const signed = signedContent({ method, path: url.pathname, requestId, body: content });
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-api-signature': hmacSha256Hex(PARTNER_SECRET, signed),
    });
    response.end(content);
  }

  private behaviourOf(path: string): Behaviour {
    const at = this.behaviours.findIndex((one) => path.startsWith(`/${one.path}-`));
    return at < 0 ? 'honest' : (this.behaviours.splice(at, 1)[0]?.behaviour ?? 'honest');
  }

  private handle(path: string, body: Json): Json {
    const wallet = String(body['address']).toLowerCase();
    const points = Number(body['deductPoints']);
    const id = String(body['svcRedemptionId']);
    const balance = this.points.get(wallet);
    const deduction = this.deductions.get(id);
    switch (path) {
      case '/get-points-by-address':
        return balance === undefined
          ? refusal('ERR-USER-NOT-FOUND')
          : {
              success: true,
              partnerUserId: 'u1',
              address: wallet,
              points: balance,
              chain: 'ethereum',
            };
      case '/deduct-points-by-address': {
        if (deduction !== undefined) {
          const { transactionId } = deduction;
          return { ...refusal('ERR-DUPLICATE-REQUEST'), partnerTransactionId: transactionId };
        }
        if (balance === undefined) return refusal('ERR-USER-NOT-FOUND');
        if (balance < points) return refusal('ERR-INSUFFICIENT-POINTS');
        this.points.set(wallet, balance - points);
        const transactionId = `tx-${randomUUID()}`;
        this.deductions.set(id, { wallet, points, transactionId, reverted: false });
        return { success: true, partnerTransactionId: transactionId };
      }
      case '/revert-deduct-points': {
        if (deduction === undefined) return refusal('ERR-TRANSACTION-NOT-FOUND');
        if (deduction.reverted) return refusal('ERR-ALREADY-REVERTED');
        if (deduction.points !== points) return refusal('ERR-INVALID-AMOUNT');
        deduction.reverted = true;
        this.points.set(wallet, (balance ?? 0) + points);
        return {
          success: true,
          partnerTransactionId: deduction.transactionId,
          partnerRevertId: `rv-${randomUUID()}`,
        };
      }
      default:
        this.confirmations.push(body);
        return { success: true };
    }
  }
}

export function refusal(errorCode: string): Json {
  return { success: false, errorCode, errorMessage: 'as the game has it' };
}
