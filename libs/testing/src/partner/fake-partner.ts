/**
 * A game partner on a real socket, with its ledger in memory. It behaves correctly unless a test changes its behaviour.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import { LoopbackServer } from '../wire/loopback-server.js';

export const CALLBACK_KEY = 'key-of-the-game-0001';
export const CALLBACK_SECRET = 'svcs_secret-of-the-game-for-tests';

type Json = Readonly<Record<string, unknown>>;

export interface PartnerCall {
  readonly path: string;
  /** The JSON body; for a GET request the parameters of the query. */
  readonly body: Json;
  readonly headers: IncomingHttpHeaders;
  /** The first part of the text that the signature of an answer covers, before the body. */
  readonly signedHead: string;
  /** The request target as received, with the query. */
  readonly target: string;
}

export interface PartnerAnswer {
  readonly status?: number;
  /** A string is sent unchanged, an object as canonical JSON. */
  readonly body: object | string;
  /** Sent in place of the signed body. */
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the right signature. null: no signature. */
  readonly signature?: string | null;
}

/** Returns the answer to a call; undefined leaves the call without an answer. */
export type PartnerBehaviour = (call: PartnerCall) => PartnerAnswer | undefined;

/**
 * A fault of one call: `lose-answer` performs the call but closes the connection without an answer, `drop` does not
 * perform the call either, and a function returns the body to answer with.
 */
export type Mishap = 'lose-answer' | 'drop' | ((body: Json) => Json);

interface Deduction {
  readonly points: number;
  readonly transactionId: string;
  reverted: boolean;
}

export class FakePartner extends LoopbackServer {
  readonly points = new Map<string, number>();
  readonly deductions = new Map<string, Deduction>();
  readonly confirmations: Json[] = [];
  /** In order of arrival. */
  readonly calls: PartnerCall[] = [];
  /** Delay before each answer, in milliseconds. */
  delayMs = 0;
  behave: PartnerBehaviour = (call) => ({ body: this.play(call) });
  private readonly mishaps: { readonly path: string; readonly mishap: Mishap }[] = [];

  private constructor(
    private readonly secret: string,
    private readonly basePath: string,
  ) {
    super();
  }

  /** @param basePath path prefix in the partner's URL; the default behaviour knows only endpoints without a prefix */
  static start(secret = CALLBACK_SECRET, basePath = ''): Promise<FakePartner> {
    return new FakePartner(secret, basePath).listen();
  }

  override get url(): string {
    return super.url + this.basePath;
  }

  stop(): Promise<void> {
    return this.close();
  }

  /** Applies the faults to the next calls of an endpoint, one fault per call. */
  next(endpoint: 'deduct' | 'revert' | 'confirm' | 'get', ...mishaps: Mishap[]): void {
    for (const mishap of mishaps) this.mishaps.push({ path: `/${endpoint}-`, mishap });
  }

  protected async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
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

  /** Deducts the points of a call without answering, for a test that answers with something else. */
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
