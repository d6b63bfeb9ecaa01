import { checksummed, type DevRpc } from '#libs/devchain';
import { type Address, type PublicStatus, type RedemptionState } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { StackError } from '../stack.error.js';

interface UserOptions {
  readonly url: string;
  /** An unlocked account of the chain's node, which signs for it. */
  readonly wallet: Address;
  readonly chain: { readonly rpc: DevRpc; readonly chainId: number };
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export class RefusedError extends StackError {
  constructor(
    readonly status: number,
    readonly refusal: string,
    message: string,
  ) {
    super(message);
  }
}

const LIMIT_MS = 20_000;
const CLAIM_GAS = '0x7a120';

/** A player with points, who uses the HTTP interface of the service and the accounts of the chain's node. */
export class RedemptionUser {
  #token: string | undefined;

  constructor(private readonly options: UserOptions) {}

  get wallet(): string {
    return checksummed(this.options.wallet);
  }

  async signIn(): Promise<void> {
    const { url, wallet, chain, clock } = this.options;
    const { nonce } = await this.#post<{ nonce: string }>('/api/auth/nonce', {});
    const message = signInMessage({
      host: new URL(url).host,
      wallet: this.wallet,
      chainId: chain.chainId,
      nonce,
      issuedAtMs: clock.nowMs(),
    });
    const bytes = `0x${Buffer.from(message).toString('hex')}`;
    const signature = await chain.rpc.call<string>('personal_sign', bytes, wallet);
    const { token } = await this.#post<{ token: string }>('/api/auth/verify', {
      message,
      signature,
    });
    this.#token = token;
  }

  async partners(): Promise<string[]> {
    const { partners } = await this.#call<{ partners: { name: string }[] }>('/api/partners');
    return partners.map(({ name }) => name);
  }

  async points(partner: string): Promise<number> {
    const path = `/api/partners/${encodeURIComponent(partner)}/points`;
    return (await this.#call<{ points: number }>(path)).points;
  }

  /** @param key idempotency key: the same key returns the same redemption */
  redeem(partner: string, points: number, key: string): Promise<RedemptionAnswer> {
    return this.#post('/api/redemptions', { partner, points }, { 'idempotency-key': key });
  }

  redemption(id: string): Promise<RedemptionAnswer> {
    return this.#call(`/api/redemptions/${id}`);
  }

  async newest(): Promise<RedemptionAnswer | undefined> {
    type Answer = { redemptions: RedemptionAnswer[] };
    return (await this.#call<Answer>('/api/redemptions?limit=1')).redemptions[0];
  }

  /** Asks for the points back; too late (409) is no error. */
  async cancel(id: string): Promise<void> {
    try {
      await this.#post(`/api/redemptions/${id}/cancel`, {});
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 409) throw error;
    }
  }

  /** Sends the transaction that claims the tokens; the next block includes it. @returns its hash */
  claim({ vault, calldata }: VoucherAnswer): Promise<string> {
    const { chain, wallet } = this.options;
    const fields = { from: wallet, to: vault, data: calldata, gas: CLAIM_GAS, gasPrice: '0x0' };
    return chain.rpc.call('eth_sendTransaction', fields);
  }

  #post<T>(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<T> {
    return this.#call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** @throws RefusedError for an error status, StackError where there is no answer */
  async #call<T>(path: string, request: RequestInit = {}): Promise<T> {
    const headers = new Headers(request.headers);
    if (this.#token !== undefined) headers.set('authorization', `Bearer ${this.#token}`);
    const signal = AbortSignal.any([this.options.signal, AbortSignal.timeout(LIMIT_MS)]);
    const what = `${request.method ?? 'GET'} ${path}`;
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(`${this.options.url}${path}`, { ...request, headers, signal });
      text = await answer.text();
    } catch (cause) {
      throw new StackError(`${what} got no answer: ${String(cause)}`, { cause });
    }
    if (answer.ok) return JSON.parse(text) as T;
    throw new RefusedError(
      answer.status,
      refusalIn(text),
      `${what} was refused with status ${answer.status}: ${text.slice(0, 300)}`,
    );
  }
}

function refusalIn(text: string): string {
  try {
    return String((JSON.parse(text) as { code?: unknown }).code);
  } catch {
    return '';
  }
}

/** The fields of a redemption that the demonstration reads. */
export interface RedemptionAnswer {
  readonly id: string;
  readonly tokens: number;
  readonly priceUsd: number;
  readonly status: PublicStatus;
  readonly stage: RedemptionState;
  readonly reason: string | null;
  readonly txnHash: string | null;
  readonly voucher: VoucherAnswer | null;
}

/** The transaction that claims the tokens: this data, sent to the vault. */
interface VoucherAnswer {
  readonly vault: string;
  /** Unix seconds; a block of exactly this time still pays. */
  readonly deadline: number;
  readonly calldata: string;
}

/** Whether the redemption has ended. */
export function isFinal({ status }: RedemptionAnswer): boolean {
  return status !== 'initial' && status !== 'pending';
}

interface SignIn {
  /** Host of the service, with its port. */
  readonly host: string;
  /** Address with EIP-55 checksum. */
  readonly wallet: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAtMs: number;
}

/** The text that a wallet signs: https://eips.ethereum.org/EIPS/eip-4361 */
export function signInMessage({ host, wallet, chainId, nonce, issuedAtMs }: SignIn): string {
  return [
    `${host} wants you to sign in with your Ethereum account:`,
    wallet,
    '',
    'Redeem points.',
    '',
    `URI: http://${host}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(issuedAtMs).toISOString()}`,
  ].join('\n');
}
