import {
  FINAL_BLOCK_CODES,
  type RpcObserver,
  type RpcWarning,
  SIGN_IN_DISAGREEMENT,
} from '#libs/chain';
import { type Logger } from '#libs/platform';
import { observeRpc, type Registry } from '#libs/service';
import { type Alert, type Alerts } from '../observe/alerts.js';

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

/**
 * Counts what endpoints do, and raises alerts.
 * @param refused takes the names of endpoints that turned out to serve another chain
 */
export function alertingObserver(
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
