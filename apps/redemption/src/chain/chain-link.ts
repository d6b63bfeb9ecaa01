/**
 * The service's hold on the chain. It starts without one: what needs no chain is done meanwhile, and the chain is looked for until an
 * endpoint answers. No endpoint is used before it has told its chain id, whenever that is: the pools see to it.
 * States: looking; found for good (a chain that is lost later is reported by the call that finds it); closed.
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
import { type Clock, type Logger, within } from '#libs/platform';
import { type CheckResult, observeRpc, type Registry } from '#libs/service';
import { type Alert, type Alerts } from '../observe/alerts.js';
import { type RedemptionSettings } from '../redemption.env.js';

/** A start waits no longer for endpoints that do not answer. */
const FIRST_LOOK_MS = 15_000;
/** The pool waits longer between two questions to an endpoint that does not answer. */
const RETRY_MS = 1_000;
const CHAIN_ID = { method: 'eth_chainId', params: [] };
/** A user waits for a sign-in. */
const SIGN_IN = { timeoutMs: 5_000, patienceMs: 1_000 };

export interface ChainTools {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly alerts: Alerts;
}

const CHAIN_MISMATCH = 'RPC_CHAIN_MISMATCH';
/** The alert for each code of the pool's warnings. */
const ALERTS: Readonly<Record<string, Alert>> = {
  [CHAIN_MISMATCH]: { severity: 'warning', code: 'rpc-chain-mismatch' },
  [FINAL_BLOCK_CODES.disagree]: { severity: 'critical', code: 'endpoints-disagree' },
  [FINAL_BLOCK_CODES.refused]: { severity: 'critical', code: 'final-block-refused' },
  [SIGN_IN_DISAGREEMENT]: { severity: 'warning', code: 'sign-in-disagreement' },
};

export class ChainLink {
  /** For payouts. */
  readonly pool: RpcPool;
  /** With a pool of their own: a stranger's contract that makes nodes slow must not keep payouts from being observed. */
  readonly signatures: WalletSignatures;
  /** For the publishing of day roots, which must keep no payout waiting either; not used where nothing is published. */
  readonly registryPool: RpcPool;
  private readonly pools: readonly RpcPool[];
  private readonly reader: ChainReader;
  /** Names of endpoints that turned out to serve another chain. */
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

  /** Of the token; undefined until the chain was found. */
  get tokenDecimals(): number | undefined {
    return this.decimals;
  }

  /**
   * The first look, and where it finds nothing, the looks after it.
   * @throws ChainMismatchError; PermanentError where the token does not tell its decimals
   */
  async open(): Promise<void> {
    const { chainId } = this.settings;
    const first = Promise.all(
      this.pools.map((pool) => pool.verifyChainId(chainId, this.stopping.signal)),
    ).then(() => this.readToken());
    try {
      const found = first.then(() => true);
      if (await within(FIRST_LOOK_MS, found, () => false)) return;
      // An endpoint that answers later, and wrongly, is left out by its pool before anything else is asked of it.
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

  /** An unreachable chain is a concern; endpoints of which none can ever be used are a fault. */
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
    // No message: readiness is public.
    const code = error instanceof LowmarkError ? error.code : 'unknown';
    const fault = `TOKEN_CONTRACT: the token cannot be read (${code}).`;
    if (fault !== this.fault) this.logger.error({ err: error }, 'The token cannot be read');
    this.fault = fault;
  }

  /** @throws AllEndpointsFailedError; PermanentError where the token does not tell its decimals */
  private async readToken(): Promise<void> {
    const { tokenContract, tokenDecimals: known } = this.settings;
    const { signal } = this.stopping;
    await this.pool.run((session) => session.batch([CHAIN_ID]), { patienceMs: 0, signal });
    // The symbol is nothing to this service.
    const { decimals } = await this.reader.token(tokenContract, { symbol: '', decimals: known });
    this.fault = undefined;
    this.decimals = decimals;
  }
}

/**
 * Counts what endpoints do, and raises alerts.
 * @param refused takes the names of endpoints that turned out to serve another chain
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
    // Both pools find out about an endpoint of another chain.
    if (code === CHAIN_MISMATCH) {
      if (refused.has(endpoint)) return;
      refused.add(endpoint);
    }
    const detail = message.includes(endpoint) ? message : `${endpoint}: ${message}`;
    alerts.raise({ ...alert, detail });
  };
  return { ...counted, warning };
}
