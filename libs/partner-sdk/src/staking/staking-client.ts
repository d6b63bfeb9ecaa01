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
import { requireTimely } from './requested-at.js';
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
  namesRequest,
  readSnapshots,
  type StakingSnapshots,
} from './snapshots.js';

/**
 * Options of a `StakingClient`. With the shared secret, the client verifies `X-API-SIGNATURE` of each answer. A program
 * that holds no secret gives `publicKeys` instead: each request then asks for an `ed25519` signature with a nonce of
 * its own, and the client only accepts answers with that signature. Lists of a day need the secret.
 */
export interface StakingClientOptions extends MessageKeys {
  readonly apiKey: string;
  /** Base URL of the service, such as `https://staking.example`. A path in the URL is kept. */
  readonly baseUrl: string;
  /** Time limit in milliseconds for one call, over all its attempts. Default: 10 000. */
  readonly timeoutMs?: number;
  /** Attempts after the first, for the statuses 429, 502, 503 and 504 and for broken connections. Default: 2. */
  readonly retries?: number;
  /** How long answers are cached, in seconds, such as 3600 for a player's session. Default: 0, no cache. */
  readonly cacheSeconds?: number;
  /**
   * Whether each request asks for an HTTP Message Signature with a nonce of its own, and only answers with that
   * signature are accepted. The signature binds an answer to method, path, query and status of the request. Default:
   * false. The client then verifies `X-API-SIGNATURE` alone, and compares wallet, days, contract, page and time of the
   * answer with the request. Nothing then proves the status, the headers and the time of a `LowmarkApiError`.
   */
  readonly messageSignatures?: boolean;
  /**
   * Greatest difference between `requestedAt` and the clock, either way, in seconds; an older answer is refused as a
   * replay. Default: 300. Not needed with `messageSignatures`, except for lists of a day.
   */
  readonly freshSeconds?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** The clock of the cache and of `freshSeconds`. Default: the clock of the system. */
  readonly clock?: Clock;
}

export interface SnapshotQuery {
  /** Number of complete UTC days, 1 to 30. Default: 7. */
  readonly lastDays?: number;
  /** The last of the days, such as `2026-11-20`. Default: the day before the request. */
  readonly endDay?: string;
  /**
   * The staking contract as a CAIP-10 account id, `eip155:1:0x…`. Default: the contract of the partner account.
   */
  readonly contract?: string;
}

export interface HistoryQuery {
  /** `next` of the previous page. Default: the first page. */
  readonly after?: number;
  /** Intervals per page, 1 to 1000. Default: 100. */
  readonly limit?: number;
  /** The staking contract, as in `SnapshotQuery`. */
  readonly contract?: string;
}

const PATH = '/api/staking';
const TIMEOUT_MS = 10_000;
const RETRIES = 2;
const FRESH_SECONDS = 300;
const MAX_DAYS = 30;
const MAX_INTERVALS = 1000;
const MAX_SECONDS = Number.MAX_SAFE_INTEGER / 1000;
/** The longest delay of `setTimeout` in milliseconds. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Reads staking snapshots, histories and sealed days. The client verifies each answer over the bytes as received,
 * before it uses any part of the answer.
 */
export class StakingClient {
  readonly #requests: SignedRequests;
  readonly #days: DayReader;
  readonly #endpoint: string;
  readonly #cache: PlayerCache<StakingSnapshots | LowmarkApiError> | undefined;

  /** @throws TypeError, RangeError for unusable options */
  constructor(options: StakingClientOptions) {
    const { apiKey } = options;
    const { timeoutMs = TIMEOUT_MS, retries = RETRIES, cacheSeconds = 0 } = options;
    const { freshSeconds = FRESH_SECONDS, clock = systemClock } = options;
    requireRange('timeoutMs', timeoutMs, { from: 1, to: MAX_TIMEOUT_MS });
    requireRange('retries', retries, { from: 0, to: 100 });
    requireRange('cacheSeconds', cacheSeconds, { from: 0, to: MAX_SECONDS });
    requireRange('freshSeconds', freshSeconds, { from: 1, to: MAX_SECONDS });
    this.#endpoint = endpointOf(options.baseUrl);
    this.#requests = new SignedRequests({
      keys: requireKeys(options),
      bindsAnswers: options.messageSignatures ?? false,
      fetch: options.fetch ?? fetch,
      headers: {
        'x-api-key': apiKey,
        'content-type': 'application/json',
        // A body that is compressed on the way no longer matches its signature.
        'accept-encoding': 'identity',
      },
      ...{ timeoutMs, retries, clock, freshSeconds },
    });
    this.#days = new DayReader(`${this.#endpoint}/days`, this.#requests);
    this.#cache = cacheSeconds === 0 ? undefined : new PlayerCache(cacheSeconds, clock);
  }

  /**
   * The snapshots of a wallet.
   * @param wallet `0x` and 40 hex digits, in any case
   * @throws TypeError, RangeError (arguments), LowmarkApiError (404: the wallet never staked), SignatureError,
   * UnexpectedAnswerError, TimeoutError, ConnectionError
   */
  async snapshots(wallet: string, query: SnapshotQuery = {}): Promise<StakingSnapshots> {
    const found = await this.find(wallet, query);
    if (found instanceof LowmarkApiError) throw new LowmarkApiError(found);
    return found;
  }

  /**
   * The snapshots of a wallet as from `snapshots`; undefined for a wallet that never staked, thus in the lowest tier.
   */
  async snapshotsOrNone(
    wallet: string,
    query: SnapshotQuery = {},
  ): Promise<StakingSnapshots | undefined> {
    const found = await this.find(wallet, query);
    return found instanceof LowmarkApiError ? undefined : found;
  }

  /**
   * The snapshots of up to 1,000 wallets by one request, which counts on the rate limit as one request for each wallet.
   * Answers are never cached, whatever `cacheSeconds` is.
   * @param wallets addresses in any case; an address that is given several times is answered once
   * @throws as `snapshots`; LowmarkApiError with `BATCH_TOO_LARGE` where the account's limit allows fewer wallets
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
   * A page of the wallet's staked balances since its first stake; undefined for a wallet that never staked.
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
   * Sealed days, newest first, each in its newest revision. Iterating sends one request for each page.
   * @throws as `snapshots`
   */
  days(query: DaysQuery = {}): AsyncGenerator<SealedDay, void, undefined> {
    return this.#days.days(query);
  }

  /**
   * One sealed day.
   * @param day such as `2026-11-20`
   * @throws as `snapshots`; LowmarkApiError with `DAY_NOT_OVER` or `DAY_NOT_SEALED` (409), `DAY_NOT_FOUND` (404)
   */
  day(day: string, query: DayQuery = {}): Promise<SealedDay> {
    return this.#days.day(day, query);
  }

  /**
   * The lowest balance of a wallet on a sealed day, with a proof; 0 for a wallet without stake. The client verifies the
   * proof against the root of the day.
   * @throws as `day`; UnexpectedAnswerError where the proof does not lead to the root
   */
  proof(day: string, wallet: string, query: ProofQuery = {}): Promise<WalletDay> {
    return this.#days.proof(day, wallet, query);
  }

  /**
   * All wallets with a low-water mark above zero on a sealed day, in ascending order, as they arrive. Memory holds only
   * hashes, 100 MB for a million wallets. After a broken connection the client resumes where the list broke off;
   * `timeoutMs` applies to each part.
   *
   * The wallets are proven only when the iteration has ended without an error: their number, their sum and the root are
   * then the ones that the service signed.
   * @param day such as `2026-11-20`
   * @returns the sealed day, for callers of `next`
   * @throws as `day`; LowmarkApiError with `LIST_NOT_KEPT` (410)
   */
  dayWallets(day: string, query: DayQuery = {}): AsyncGenerator<DayWallet, SealedDay, void> {
    return this.#days.wallets(day, query);
  }

  /** @returns the snapshots, or the refusal for a wallet that never staked */
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
    const { answer, body, time } = await this.#requests.ask({ url });
    if (answer.status === 200) return body;
    const refusal = refusalOf(answer, body);
    if (refusal.status !== 404 || !namesRequest(refusal, asked)) throw refusal;
    requireTimely(body, time);
    return refusal;
  }
}

/** The secret where it is given, else the public keys. @throws TypeError whose message never shows a value */
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

/** The signature covers the path as sent, so the URL is normalised here, before an HTTP library may do so. */
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
