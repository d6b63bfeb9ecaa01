/**
 * The service's hold on the chain. It starts without one: what needs no chain is done meanwhile, and the chain is looked for until an
 * endpoint answers. No endpoint is used before it has told its chain id, whenever that is: the pools see to it.
 * States: looking; found for good (a chain lost later is for whoever asks it to say); closed.
 */
import { type ChainReader, type RpcPool } from '#libs/chain';
import { type Address, LowmarkError, RetryableError } from '#libs/domain';
import { type Logger, within } from '#libs/platform';
import { type CheckResult } from '#libs/service';

export interface ChainLinkParts {
  /** The first is asked for the token; all are checked. */
  readonly pools: readonly [RpcPool, ...RpcPool[]];
  readonly reader: Pick<ChainReader, 'token'>;
  readonly chainId: number;
  readonly token: Address;
  /** What the settings say instead of the chain. */
  readonly knownDecimals: number | undefined;
  /** Names of endpoints that turned out to serve another chain. */
  readonly refused: ReadonlySet<string>;
  readonly logger: Logger;
}

/** A start waits no longer for endpoints that do not answer. */
const FIRST_LOOK_MS = 15_000;
/** The pool waits longer between two questions to an endpoint that does not answer. */
const RETRY_MS = 1_000;
const CHAIN_ID = { method: 'eth_chainId', params: [] };

export class ChainLink {
  private readonly stopping = new AbortController();
  private decimals: number | undefined;
  private fault: string | undefined;
  private retry: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(private readonly parts: ChainLinkParts) {}

  /** Of the token; undefined until the chain was found. */
  get tokenDecimals(): number | undefined {
    return this.decimals;
  }

  /**
   * The first look, and where it finds nothing, the looks after it.
   * @throws ChainMismatchError; PermanentError where the token does not tell its decimals
   */
  async open(): Promise<void> {
    const { pools, chainId, logger } = this.parts;
    const first = Promise.all(
      pools.map((pool) => pool.verifyChainId(chainId, this.stopping.signal)),
    ).then(() => this.look());
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
    logger.warn('RPC_URLS: the chain is not reached yet; starting without it');
    this.later();
  }

  /** An unreachable chain is a concern; endpoints of which none can ever be used are a fault. */
  check(): CheckResult {
    const { pools, refused } = this.parts;
    const all = pools[0].endpoints.length;
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
    const { logger } = this.parts;
    try {
      await this.look();
      logger.info('The chain answers');
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
    if (fault !== this.fault) this.parts.logger.error({ err: error }, 'The token cannot be read');
    this.fault = fault;
  }

  /** @throws AllEndpointsFailedError; PermanentError where the token does not tell its decimals */
  private async look(): Promise<void> {
    const { pools, reader, token, knownDecimals } = this.parts;
    const { signal } = this.stopping;
    await pools[0].run((session) => session.batch([CHAIN_ID]), { patient: false, signal });
    // The symbol is nothing to this service.
    const { decimals } = await reader.token(token, { symbol: '', decimals: knownDecimals });
    this.fault = undefined;
    this.decimals = decimals;
  }
}
