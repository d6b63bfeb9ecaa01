import { ChainReader, type RpcObserver, RpcPool, WalletSignatures } from '#libs/chain';
import { type Clock, type Logger, observeRpc, type Registry } from '#libs/platform';
import { ChainLink } from './chain/chain-link.js';
import { type Alerts } from './observe/alerts.js';
import { type RedemptionSettings } from './redemption.env.js';

export interface ChainParts {
  /** For payouts. */
  readonly pool: RpcPool;
  readonly signatures: WalletSignatures;
  readonly chain: ChainLink;
}

export interface ChainTools {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly alerts: Alerts;
}

/** A user waits for it. */
const SIGN_IN_TIMEOUT_MS = 5_000;
const SIGN_IN_PATIENCE_MS = 1_000;

/**
 * The service's view of the chain, which need not be there yet. Sign-ins have a pool of their own: a stranger's contract that makes
 * nodes slow must not keep payouts from being observed.
 * @throws ChainMismatchError; PermanentError where a URL is not usable or the token does not tell its decimals
 */
export async function connectChain(
  settings: RedemptionSettings,
  tools: ChainTools,
): Promise<ChainParts> {
  const { rpcUrls: urls, chainId, tokenContract: token, tokenDecimals: knownDecimals } = settings;
  const { clock, logger } = tools;
  const refused = new Set<string>();
  const observer = observe(refused, tools);
  const pool = new RpcPool({ urls, clock, observer });
  const signInPool = new RpcPool({
    urls,
    clock,
    observer,
    timeoutMs: SIGN_IN_TIMEOUT_MS,
    patienceMs: SIGN_IN_PATIENCE_MS,
  });
  const reader = new ChainReader(pool);
  const pools = [pool, signInPool] as const;
  const chain = new ChainLink({ pools, reader, chainId, token, knownDecimals, refused, logger });
  await chain.open();
  return { pool, signatures: new WalletSignatures(signInPool, chainId), chain };
}

/** Counts what endpoints do, and notes those that are left out because they turned out to serve another chain. */
function observe(refused: Set<string>, { registry, logger, alerts }: ChainTools): RpcObserver {
  const events = observeRpc(registry, logger);
  return {
    request: (event) => {
      events.request(event);
    },
    waiting: (event) => {
      events.waiting(event);
    },
    warning: (warning) => {
      const { endpoint, code, message: detail } = warning;
      events.warning(warning);
      if (code !== 'RPC_CHAIN_MISMATCH' || refused.has(endpoint)) return;
      refused.add(endpoint);
      alerts.raise({ severity: 'warning', code: 'rpc-chain-mismatch', detail });
    },
  };
}
