import { ChainReader, RpcPool, WalletSignatures } from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';
import { type RedemptionSettings } from './redemption.env.js';

export interface ChainParts {
  /** For payouts. */
  readonly pool: RpcPool;
  readonly signatures: WalletSignatures;
  readonly tokenDecimals: number;
}

/** A user waits for it. */
const SIGN_IN_TIMEOUT_MS = 5_000;
const SIGN_IN_PATIENCE_MS = 1_000;

/**
 * The service's view of the chain. Sign-ins have a pool of their own: a stranger's contract that makes nodes slow must not keep
 * payouts from being observed.
 * @throws ChainMismatchError; AllEndpointsFailedError where no endpoint tells its chain; PermanentError where the token does not tell
 * its decimals
 */
export async function connectChain(
  settings: RedemptionSettings,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<ChainParts> {
  const { rpcUrls: urls, chainId, tokenContract, tokenDecimals: known } = settings;
  const observer = {
    request: () => undefined,
    warning: ({ endpoint, code, message }: Record<'endpoint' | 'code' | 'message', string>) => {
      logger.warn({ endpoint, code }, message);
    },
  };
  const pool = new RpcPool({ urls, clock, observer });
  const signInPool = new RpcPool({
    urls,
    clock,
    observer,
    timeoutMs: SIGN_IN_TIMEOUT_MS,
    patienceMs: SIGN_IN_PATIENCE_MS,
  });
  await Promise.all([pool.verifyChainId(chainId), signInPool.verifyChainId(chainId)]);
  // The symbol is nothing to this service.
  const token = { symbol: '', decimals: known };
  const { decimals } = await new ChainReader(pool).token(tokenContract, token);
  return { pool, signatures: new WalletSignatures(signInPool), tokenDecimals: decimals };
}
