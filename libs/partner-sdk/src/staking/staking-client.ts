import { type Clock, systemClock } from '../clock.js';
import { requireApiKey, requireCredential } from '../credential.js';
import { type MessageKeys } from '../signing/message-signature.js';
import { type AskedBatch, MAX_BATCH, readBatch, type SnapshotsByWallet } from './batch.js';
import { type DayQuery, DayReader, type DaysQuery, type ProofQuery } from './day-reader.js';
import { type DayWallet } from './day-wallets.js';
import { type SealedDay, type WalletDay } from './days.js';
import { LowmarkApiError } from './errors.js';
import { readHistory, type StakingHistory } from './history.js';
import { PlayerCache } from './player-cache.js';
import { refusalOf } from './exchange.js';
import {
  requireAddress,
  requireContract,
  requireDay,
  requirePublicKeys,
  requireRange,
  urlOf,
} from './requests.js';
import { SignedRequests } from './signed-requests.js';
import {
  type AskedOfWallet,
  type AskedSnapshots,
  isAbout,
  readSnapshots,
  type StakingSnapshots,
} from './snapshots.js';

/**
 * By the shared secret each answer's `X-API-SIGNATURE` is verified. Without it, for a program that holds no secret, `publicKeys` is
 * needed: each request asks for an `ed25519` signature with a nonce of its own, and only answers that bear it are taken. Lists of a day
 * need the secret.
 */
export interface StakingClientOptions extends MessageKeys {
  readonly apiKey: string;
  /** Such as `https://staking.example`; a path of its own is kept. */
  readonly baseUrl: string;
  /** For one call, all its attempts together. Default: 10 000. */
  readonly timeoutMs?: number;
  /** Attempts after the first, for 429, 503 and broken connections. Default: 2. */
  readonly retries?: number;
  /** How long answers are kept; 3600 is a player's session. Default: not at all. */
  readonly cacheSeconds?: number;
  /**
   * Whether each request asks for an HTTP Message Signature with a nonce of its own, and only answers that bear it are taken: it binds
   * them to method, path, query and status. Default: false, `X-API-SIGNATURE` alone, with which wallet, days and contract are compared.
   */
  readonly messageSignatures?: boolean;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** For the cache. Default: the system's. */
  readonly clock?: Clock;
}

export interface SnapshotQuery {
  /** Complete UTC days, 1 to 30. Default: 7. */
  readonly lastDays?: number;
  /** The last of them, of the past, such as `2026-11-20`. Default: the day before the request. */
  readonly endDay?: string;
  /** The staking contract by its CAIP-10 account id, `eip155:1:0x…`. Default: the one agreed for the partner account. */
  readonly contract?: string;
}

export interface HistoryQuery {
  /** `next` of the page before. Default: the first page. */
  readonly after?: number;
  /** Intervals of a page, 1 to 1000. Default: 100. */
  readonly limit?: number;
  /** As in `SnapshotQuery`. */
  readonly contract?: string;
}

const PATH = '/api/staking';
const TIMEOUT_MS = 10_000;
const RETRIES = 2;
const MAX_DAYS = 30;
const MAX_INTERVALS = 1000;
/** What `setTimeout` can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Reads staking snapshots. Every answer is verified over the bytes that came, before anything of it is used. */
export class StakingClient {
  readonly #requests: SignedRequests;
  readonly #days: DayReader;
  readonly #endpoint: string;
  readonly #cache: PlayerCache<StakingSnapshots | LowmarkApiError> | undefined;

  /** @throws TypeError, RangeError for options that cannot be meant */
  constructor(options: StakingClientOptions) {
    const { apiKey } = options;
    const { timeoutMs = TIMEOUT_MS, retries = RETRIES, cacheSeconds = 0 } = options;
    requireRange('timeoutMs', timeoutMs, { from: 1, to: MAX_TIMEOUT_MS });
    requireRange('retries', retries, { from: 0, to: 100 });
    requireRange('cacheSeconds', cacheSeconds, { from: 0, to: Number.MAX_SAFE_INTEGER / 1000 });
    this.#endpoint = endpointOf(options.baseUrl);
    this.#requests = new SignedRequests({
      keys: requireKeys(options),
      bindsAnswers: options.messageSignatures ?? false,
      fetch: options.fetch ?? fetch,
      headers: {
        'x-api-key': apiKey,
        'content-type': 'application/json',
        // What is compressed on the way is not what was signed.
        'accept-encoding': 'identity',
      },
      timeoutMs,
      retries,
    });
    this.#days = new DayReader(`${this.#endpoint}/days`, this.#requests);
    this.#cache =
      cacheSeconds === 0 ? undefined : new PlayerCache(cacheSeconds, options.clock ?? systemClock);
  }

  /**
   * @param wallet `0x` and 40 hex digits, in any capitals
   * @throws TypeError, RangeError (arguments), LowmarkApiError (404: the wallet never staked), SignatureError, UnexpectedAnswerError,
   *   TimeoutError, ConnectionError
   */
  async snapshots(wallet: string, query: SnapshotQuery = {}): Promise<StakingSnapshots> {
    const found = await this.find(wallet, query);
    if (found instanceof LowmarkApiError) throw new LowmarkApiError(found);
    return found;
  }

  /** As `snapshots`, but undefined for a wallet that never staked: the lowest tier. */
  async snapshotsOrNone(
    wallet: string,
    query: SnapshotQuery = {},
  ): Promise<StakingSnapshots | undefined> {
    const found = await this.find(wallet, query);
    return found instanceof LowmarkApiError ? undefined : found;
  }

  /**
   * Up to 1,000 wallets by one request, which counts as many as there are. Answers are not kept, whatever `cacheSeconds` says.
   * @param wallets in any capitals; one that comes several times is answered once
   * @throws as `snapshots`; LowmarkApiError with `BATCH_TOO_LARGE` where the account's limit allows fewer wallets at once
   */
  async snapshotsBatch(
    wallets: readonly string[],
    query: SnapshotQuery = {},
  ): Promise<SnapshotsByWallet> {
    requireRange('The number of wallets', wallets.length, { from: 1, to: MAX_BATCH });
    const asked: AskedBatch = {
      ...requireQuery(query),
      wallets: [...new Set(wallets.map((one, place) => requireAddress(one, `wallets[${place}]`)))],
    };
    const { lastDays, endDay, contract } = asked;
    const request = {
      url: `${this.#endpoint}/snapshots/batch`,
      body: JSON.stringify({ walletAddresses: asked.wallets, lastDays, endDay, contract }),
    };
    const { answer, body } = await this.#requests.ask(request);
    if (answer.status === 200) return readBatch(body, asked);
    throw refusalOf(answer, body);
  }

  /**
   * A page of what the wallet kept staked since its first stake; undefined for a wallet that never staked.
   * @throws as `snapshots`
   */
  async history(
    wallet: string,
    { after, limit = 100, contract: text }: HistoryQuery = {},
  ): Promise<StakingHistory | undefined> {
    requireRange('limit', limit, { from: 1, to: MAX_INTERVALS });
    if (after !== undefined) requireRange('after', after, { from: 0, to: 999_999_999_999_999 });
    const asked = { wallet: requireAddress(wallet), after, limit, contract: requireContract(text) };
    const { contract } = asked;
    const url = urlOf(`${this.#endpoint}/history`, {
      ...{ walletAddress: asked.wallet, limit, after, contract },
    });
    const found = await this.ask(url, asked);
    return found instanceof LowmarkApiError ? undefined : readHistory(found, asked);
  }

  /**
   * Sealed days, the newest first, each in its newest revision; as many requests as pages are needed.
   * @throws as `snapshots`
   */
  days(query: DaysQuery = {}): AsyncGenerator<SealedDay, void, undefined> {
    return this.#days.days(query);
  }

  /**
   * @param day such as `2026-11-20`
   * @throws as `snapshots`; LowmarkApiError with `DAY_NOT_OVER` or `DAY_NOT_SEALED` (409), `DAY_NOT_FOUND` (404)
   */
  day(day: string, query: DayQuery = {}): Promise<SealedDay> {
    return this.#days.day(day, query);
  }

  /**
   * What a wallet kept staked all through a sealed day; of a wallet without stake that it had none. The proof is verified here, against
   * the root of the day.
   * @throws as `day`; UnexpectedAnswerError where the proof does not lead to the root
   */
  proof(day: string, wallet: string, query: ProofQuery = {}): Promise<WalletDay> {
    return this.#days.proof(day, wallet, query);
  }

  /**
   * All wallets with a low-water mark above zero on a sealed day, ascending, while they arrive: memory for hashes only, 100 MB for a
   * million. A broken connection is taken up again where it broke; `timeoutMs` is for each part.
   *
   * They are proven once it has ended without an error: then their number, their sum and the root are those that the service signed.
   * @param day such as `2026-11-20`
   * @returns the sealed day, for those who call `next` by themselves
   * @throws as `day`; LowmarkApiError with `LIST_NOT_KEPT` (410)
   */
  dayWallets(day: string, query: DayQuery = {}): AsyncGenerator<DayWallet, SealedDay, void> {
    return this.#days.wallets(day, query);
  }

  /** @returns the refusal for a wallet that never staked */
  private async find(
    wallet: string,
    query: SnapshotQuery,
  ): Promise<StakingSnapshots | LowmarkApiError> {
    const asked = { wallet: requireAddress(wallet), ...requireQuery(query) };
    const { lastDays, endDay = '', contract = '' } = asked;
    const load = (): Promise<StakingSnapshots | LowmarkApiError> => this.load(asked);
    return this.#cache === undefined
      ? load()
      : this.#cache.get(`${asked.wallet} ${lastDays} ${endDay} ${contract}`, load);
  }

  private async load(asked: AskedSnapshots): Promise<StakingSnapshots | LowmarkApiError> {
    const { wallet, ...query } = asked;
    const url = urlOf(`${this.#endpoint}/snapshots`, { walletAddress: wallet, ...query });
    const found = await this.ask(url, asked);
    return found instanceof LowmarkApiError ? found : readSnapshots(found, asked);
  }

  /** @returns the verified body, or the refusal for a wallet that never staked */
  private async ask(url: string, asked: AskedOfWallet): Promise<unknown> {
    const { answer, body } = await this.#requests.ask({ url });
    if (answer.status === 200) return body;
    const refusal = refusalOf(answer, body);
    if (refusal.status === 404 && isAbout(refusal, asked)) return refusal;
    throw refusal;
  }
}

/** The secret where it is given; the public keys are needed where it is not. @throws TypeError, which never shows a value */
function requireKeys({ apiKey, sharedSecret, publicKeys }: StakingClientOptions): MessageKeys {
  if (sharedSecret === undefined && publicKeys !== undefined) {
    requireApiKey(apiKey);
    requirePublicKeys(publicKeys);
    return { publicKeys };
  }
  const credential = { apiKey, sharedSecret: sharedSecret ?? '' };
  requireCredential(credential);
  return { sharedSecret: credential.sharedSecret };
}

/** The path is signed as it is sent, so it is fixed here: a library may normalise URLs. */
function endpointOf(baseUrl: string): string {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isWeb = base?.protocol === 'https:' || base?.protocol === 'http:';
  if (base === undefined || !isWeb || base.search + base.hash + base.username !== '') {
    throw new TypeError('baseUrl must be a URL such as https://staking.example, without a query');
  }
  return base.origin + base.pathname.replace(/\/+$/, '') + PATH;
}

/** @throws TypeError, RangeError */
function requireQuery({
  lastDays = 7,
  endDay,
  contract: text,
}: SnapshotQuery): Omit<AskedSnapshots, 'wallet'> {
  requireRange('lastDays', lastDays, { from: 1, to: MAX_DAYS });
  if (endDay !== undefined) requireDay('endDay', endDay);
  return { lastDays, endDay, contract: requireContract(text) };
}
