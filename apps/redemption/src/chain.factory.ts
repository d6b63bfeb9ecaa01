import {
  ChainReader,
  FINAL_BLOCK_CODES,
  type RpcObserver,
  RpcPool,
  type RpcWarning,
  SIGN_IN_DISAGREEMENT,
  WalletSignatures,
} from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';
import { observeRpc, type Registry } from '#libs/service';
import { ChainLink } from './chain/chain-link.js';
import { type Alert, type Alerts } from './observe/alerts.js';
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

const CHAIN_MISMATCH = 'RPC_CHAIN_MISMATCH';
/** What a person should hear of, by the code of the pool's warning. */
const ALERTS: Readonly<Record<string, Pick<Alert, 'severity' | 'code'>>> = {
  [CHAIN_MISMATCH]: { severity: 'warning', code: 'rpc-chain-mismatch' },
  [FINAL_BLOCK_CODES.disagree]: { severity: 'critical', code: 'endpoints-disagree' },
  [FINAL_BLOCK_CODES.refused]: { severity: 'critical', code: 'final-block-refused' },
  [SIGN_IN_DISAGREEMENT]: { severity: 'warning', code: 'sign-in-disagreement' },
};

/** Counts what endpoints do, raises what a person should hear of, and notes those that turned out to serve another chain. */
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
      events.warning(warning);
      if (isNews(warning, refused)) raise(warning, alerts);
    },
  };
}

/** Both pools find out about an endpoint of another chain. */
function isNews({ endpoint, code }: RpcWarning, refused: Set<string>): boolean {
  if (code !== CHAIN_MISMATCH) return true;
  if (refused.has(endpoint)) return false;
  refused.add(endpoint);
  return true;
}

function raise({ endpoint, code, message }: RpcWarning, alerts: Alerts): void {
  const alert = ALERTS[code];
  if (!alert) return;
  const detail = message.includes(endpoint) ? message : `${endpoint}: ${message}`;
  alerts.raise({ ...alert, detail });
}
