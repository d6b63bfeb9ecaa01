/** Nest tokens of what has no class of its own. */
/** The StakeDescription of STAKE_EVENTS. */
export const STAKES = Symbol('StakeDescription');
/** What all pools of endpoints are observed by. */
export const RPC_OBSERVER = Symbol('RpcObserver');
/** Connections and a health of its own: an endpoint that has enough of the audit is not set aside for the index. */
export const AUDIT_POOL = Symbol('RpcPool of the audit');
export const AUDIT_READER = Symbol('ChainReader of the audit');
