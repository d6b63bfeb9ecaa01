/**
 * The service's connection to the chain. The service starts without the chain: what needs no chain works meanwhile, and
 * the chain is looked for until an endpoint answers. The pools use no endpoint before it has answered with the right
 * chain id. States: looking; found for good (a later loss is reported by the call that meets it); closed.
 */
import {
  ChainReader,
  FINAL_BLOCK_CODES,
  type RpcObserver,
  RpcPool,
  type RpcWarning,
  SIGN_IN_DISAGREEMENT,
  WalletSignatures,
} from '#libs/chain';
import { LowmarkError, RetryableError } from '#libs/domain';
import { type Clock, type Logger, withTimeout } from '#libs/platform';
import { type CheckResult, observeRpc, type Registry } from '#libs/service';
import { type Alert, type Alerts } from '../observe/alerts.js';
import { type RedemptionSettings } from '../redemption.env.js';

/** Milliseconds that the start waits at most for endpoints that do not answer. */
const FIRST_LOOK_MS = 15_000;
/** Milliseconds between two tries. The pool itself asks an endpoint that does not answer less often. */
const RETRY_MS = 1_000;
const CHAIN_ID = { method: 'eth_chainId', params: [] };
/** Options of the pool for sign-ins: short waits, since a user waits for the answer. */
const SIGN_IN = { timeoutMs: 5_000, patienceMs: 1_000 };

export interface ChainTools {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly alerts: Alerts;
}

const CHAIN_MISMATCH = 'RPC_CHAIN_MISMATCH';
const ALERTS: Readonly<Record<string, Alert>> = {
  [CHAIN_MISMATCH]: { severity: 'warning', code: 'rpc-chain-mismatch' },
  [FINAL_BLOCK_CODES.disagree]: { severity: 'critical', code: 'endpoints-disagree' },
  [FINAL_BLOCK_CODES.refused]: { severity: 'critical', code: 'final-block-refused' },
  [SIGN_IN_DISAGREEMENT]: { severity: 'warning', code: 'sign-in-disagreement' },
};

export class ChainLink {
  /** The pool for payouts. */
  readonly pool: RpcPool;
  /**
   * Checks signatures, with a pool of its own: a contract wallet that makes nodes slow must not delay the observation
   * of payouts.
   */
  readonly signatures: WalletSignatures;
  /** The pool for publishing day roots, so that payouts do not wait for it; unused where nothing is published. */
  readonly registryPool: RpcPool;
  private readonly pools: readonly RpcPool[];
  private readonly reader: ChainReader;
  /** Names of endpoints that serve another chain. */
  private readonly refused = new Set<string>();
  private readonly logger: Logger;
  private readonly stopping = new AbortController();
  private decimals: number | undefined;
  private fault: string | undefined;
  private retry: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  /** @throws PermanentError where a URL is not usable */
  constructor(
    private readonly settings: RedemptionSettings,
    clock: Clock,
    tools: ChainTools,
  ) {
    const { rpcUrls: urls, chainId } = settings;
    const observer = alertingObserver(this.refused, tools);
    this.pool = new RpcPool({ urls, clock, observer });
    const signInPool = new RpcPool({ urls, clock, observer, ...SIGN_IN });
    this.registryPool = new RpcPool({ urls, clock, observer });
    const publishes = settings.registryAddress !== undefined;
    this.pools = [this.pool, signInPool, ...(publishes ? [this.registryPool] : [])];
    this.reader = new ChainReader(this.pool);
    this.signatures = new WalletSignatures(signInPool, chainId);
    this.logger = tools.logger;
  }

  /** Decimals of the token; undefined until the chain was found. */
  get tokenDecimals(): number | undefined {
    return this.decimals;
  }

  /**
   * Looks for the chain, and goes on in the background where the first try fails.
   * @throws ChainMismatchError; PermanentError where the token does not tell its decimals
   */
  async open(): Promise<void> {
    const { chainId } = this.settings;
    const first = Promise.all(
      this.pools.map((pool) => pool.verifyChainId(chainId, this.stopping.signal)),
    ).then(() => this.readToken());
    try {
      const found = first.then(() => true);
      if (await withTimeout(FIRST_LOOK_MS, found, () => false)) return;
      // An endpoint that answers later with another chain id is left out by its pool before any other request to it.
      first.catch(() => undefined);
    } catch (error) {
      if (!(error instanceof RetryableError)) {
        await this.close();
        throw error;
      }
    }
    this.logger.warn('RPC_URLS: the chain is not reached yet; starting without it');
    this.later();
  }

  /**
   * An unreachable chain is only a concern. A token that cannot be read, or endpoints that all serve another chain, are
   * faults.
   */
  check(): CheckResult {
    const { refused } = this;
    const all = this.pool.endpoints.length;
    if (refused.size === all) {
      return { reason: 'RPC_URLS: every endpoint serves another chain than CHAIN_ID.' };
    }
    if (this.fault !== undefined) return { reason: this.fault };
    const concerns = [
      ...(this.decimals === undefined
        ? ['RPC_URLS: the chain has not been reached since the start; nothing can be redeemed.']
        : []),
      ...(refused.size > 0
        ? [`RPC_URLS: ${refused.size} of ${all} endpoints serve another chain than CHAIN_ID.`]
        : []),
    ];
    return { details: { concerns: concerns.length > 0 ? concerns.join(' ') : null } };
  }

  async close(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.retry);
    await this.looking;
  }

  private later(): void {
    if (this.stopping.signal.aborted) return;
    this.retry = setTimeout(() => {
      this.looking = this.lookAgain();
    }, RETRY_MS);
  }

  /** Never rejects. */
  private async lookAgain(): Promise<void> {
    try {
      await this.readToken();
      this.logger.info('The chain answers');
    } catch (error) {
      this.note(error);
      this.later();
    }
  }

  private note(error: unknown): void {
    if (error instanceof RetryableError || this.stopping.signal.aborted) return;
    // The error's message is left out, since readiness is public.
    const code = error instanceof LowmarkError ? error.code : 'unknown';
    const fault = `TOKEN_CONTRACT: the token cannot be read (${code}).`;
    if (fault !== this.fault) this.logger.error({ err: error }, 'The token cannot be read');
    this.fault = fault;
  }

  /** @throws AllEndpointsFailedError; PermanentError where the token does not tell its decimals */
  private async readToken(): Promise<void> {
    const { tokenContract } = this.settings;
    const { signal } = this.stopping;
    await this.pool.run((session) => session.batch([CHAIN_ID]), { patienceMs: 0, signal });
    // The service does not use the symbol.
    const { decimals } = await this.reader.token(tokenContract, { symbol: '' });
    this.fault = undefined;
    this.decimals = decimals;
  }
}

/**
 * Counts the requests to endpoints, and raises alerts.
 * @param refused gets the names of endpoints that serve another chain
 */
function alertingObserver(
  refused: Set<string>,
  { registry, logger, alerts }: ChainTools,
): RpcObserver {
  const counted = observeRpc(registry, logger);
  const warning = (event: RpcWarning): void => {
    counted.warning(event);
    const { endpoint, code, message } = event;
    const alert = ALERTS[code];
    if (alert === undefined) return;
    // Each pool meets an endpoint of another chain by itself; one alert is enough.
    if (code === CHAIN_MISMATCH) {
      if (refused.has(endpoint)) return;
      refused.add(endpoint);
    }
    const detail = message.includes(endpoint) ? message : `${endpoint}: ${message}`;
    alerts.raise({ ...alert, detail });
  };
  return { ...counted, warning };
}
