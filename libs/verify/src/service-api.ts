/** Reads days from the API of the service. The public keys verify each answer, and so does the secret, if given. */
import { FIRST_ADDRESS, LAST_ADDRESS, type DayLow, parseAddress, type Address } from '#libs/domain';
import { LowmarkApiError, type SealedDay, StakingClient } from '#libs/partner-sdk';
import { UncheckedError } from './verify.error.js';
import { PublicSignatures } from './public-signatures.js';

export interface ServiceApiOptions {
  /** Base URL, such as `https://staking.example`. */
  readonly url: string;
  readonly apiKey: string;
  /** Absent: only the public keys verify answers, and lists are not read. */
  readonly sharedSecret: string | undefined;
}

/** Timeout of a call in milliseconds. The service may first compute an older day again, which takes half a minute. */
const TIMEOUT_MS = 120_000;
const RETRIES = 20;
const ACCESS_TIMEOUT_MS = 10_000;
/** HTTP statuses of a missing list: older days have no list, and older services have no lists at all. */
const NO_LIST: readonly number[] = [404, 410];
/** Greatest number of proofs that are read one by one in place of a missing list. */
const MOST_PROOFS = 5000;

export class ServiceApi {
  private opened: Promise<StakingClient> | undefined;
  private readonly signatures: PublicSignatures;

  /** @param contract CAIP-10 account id @throws TypeError for unusable options */
  constructor(
    private readonly options: ServiceApiOptions,
    private readonly contract: string,
  ) {
    this.signatures = new PublicSignatures(options.url);
  }

  /**
   * Checks URL and API key before the chain is read, which may take minutes.
   * @throws UncheckedError where either is wrong
   */
  async requireAccess(): Promise<void> {
    // The constructor of the client rejects unusable options before the key is sent to any host.
    await this.client();
    const url = `${this.options.url.replace(/\/+$/, '')}/api/staking/days?limit=1`;
    let answer: Response;
    try {
      const signal = AbortSignal.timeout(ACCESS_TIMEOUT_MS);
      const headers = { 'x-api-key': this.options.apiKey };
      // A redirect would carry the key to another host.
      answer = await fetch(url, { headers, redirect: 'manual', signal });
      await answer.body?.cancel();
    } catch {
      throw new UncheckedError('The api cannot be reached: see --api.');
    }
    if (answer.status === 401) {
      throw new UncheckedError('The api does not take the API key: see LOWMARK_API_KEY (401).');
    }
  }

  /** @throws UncheckedError */
  async day(day: string): Promise<SealedDay & { readonly signedBy: string }> {
    const sealed = await this.request((client) => client.day(day, { contract: this.contract }));
    return { ...sealed, signedBy: this.signatures.requireKeyId() };
  }

  /** The low-water mark of a wallet that the root proves. @throws UncheckedError */
  async provenLow(day: string, wallet: Address, root: string): Promise<bigint> {
    const query = { contract: this.contract, root };
    const { low } = await this.request((client) => client.proof(day, wallet, query));
    return BigInt(low);
  }

  /**
   * All wallets of the day in ascending order, from the list of the service or, without a list, from proof to proof.
   * @throws UncheckedError
   */
  async *wallets(day: string, root: string): AsyncGenerator<DayLow> {
    if (this.options.sharedSecret !== undefined) {
      try {
        const list = (await this.client()).dayWallets(day, { contract: this.contract });
        for await (const { walletAddress, low } of list) {
          yield { wallet: walletAddress as Address, low };
        }
        return;
      } catch (error) {
        if (!(error instanceof LowmarkApiError) || !NO_LIST.includes(error.status)) {
          throw uncheckedOf(error);
        }
      }
    }
    yield* this.walletsByProofs(day, root);
  }

  /** Reads one proof after the other: each proven leaf names the next wallet. */
  private async *walletsByProofs(day: string, root: string): AsyncGenerator<DayLow> {
    let wallet: string = FIRST_ADDRESS;
    for (let proofs = 0; proofs < MOST_PROOFS; proofs += 1) {
      const query = { contract: this.contract, root };
      const at = wallet;
      const { leaf } = await this.request((client) => client.proof(day, at, query));
      const address = parseAddress(leaf.wallet);
      if (address !== undefined && BigInt(leaf.low) > 0n)
        yield { wallet: address, low: BigInt(leaf.low) };
      if (leaf.wallet === LAST_ADDRESS) return;
      wallet = leaf.next;
    }
    throw new UncheckedError(
      `the first ${MOST_PROOFS} wallets agree: give --list to have the wallet named`,
    );
  }

  private async request<T>(ask: (client: StakingClient) => Promise<T>): Promise<T> {
    try {
      const answer = await ask(await this.client());
      this.signatures.requireKeyId();
      return answer;
    } catch (error) {
      throw uncheckedOf(error);
    }
  }

  private client(): Promise<StakingClient> {
    return (this.opened ??= this.open());
  }

  private async open(): Promise<StakingClient> {
    const { url: baseUrl, apiKey, sharedSecret } = this.options;
    const keys =
      sharedSecret === undefined
        ? { publicKeys: await this.signatures.publicKeys() }
        : { sharedSecret };
    return new StakingClient({
      ...{ baseUrl, apiKey, ...keys, timeoutMs: TIMEOUT_MS, retries: RETRIES },
      // Binds the signature to the query as well.
      messageSignatures: true,
      fetch: this.signatures.fetch,
    });
  }
}

function uncheckedOf(error: unknown): UncheckedError {
  const code = error instanceof LowmarkApiError ? `${error.code}: ` : '';
  return new UncheckedError(`${code}${error instanceof Error ? error.message : String(error)}`);
}
