/** The result of eth_getLogs, before the entries are checked: the forms that nodes in the field give it. */
import { MalformedAnswerError } from '../errors/rpc.errors.js';
import { type AtEndpoint } from '../rpc/rpc-call.js';
import { isRecord } from '../shape/hex.js';

export interface LogList {
  /** Not checked. */
  readonly logs: readonly unknown[];
  /** Entries with `removed: true`: logs of blocks that the chain has replaced. They are no logs of the chain. */
  readonly removed: readonly Record<string, unknown>[];
  /** Whether the node answered null. It counts as an empty list only where something else vouches for that. */
  readonly isNull: boolean;
}

const NONE: readonly Record<string, unknown>[] = [];

/** @throws MalformedAnswerError */
export function parseLogList(value: unknown, at: AtEndpoint): LogList {
  if (value === null) return { logs: NONE, removed: NONE, isNull: true };
  if (!Array.isArray(value)) throw new MalformedAnswerError('the logs are not a list', at);
  const all = value as readonly unknown[];
  const removed = all.filter(isRemoved);
  const logs = removed.length === 0 ? all : all.filter((log) => !isRemoved(log));
  return { logs, removed, isNull: false };
}

function isRemoved(log: unknown): log is Record<string, unknown> {
  return isRecord(log) && log['removed'] === true;
}
