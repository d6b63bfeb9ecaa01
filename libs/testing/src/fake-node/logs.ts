import { type NodeAnswer, type NodeCall } from './node-call.js';

export type Log = Record<string, unknown>;

export interface LogChange {
  readonly receiptsToo: boolean;
  /** @returns the logs to answer with; the same array where there is no change */
  readonly change: (logs: Log[], filter: Record<string, unknown>) => Log[];
}

export function blockOf(log: Log): bigint {
  return BigInt(log['blockNumber'] as string);
}

/** The objects in a result, which may be one object or a list. */
export function resultRecords({ result }: NodeAnswer): Record<string, unknown>[] {
  const list: unknown[] = Array.isArray(result) ? result : [result];
  return list.filter(
    (item): item is Record<string, unknown> => typeof item === 'object' && item !== null,
  );
}

/**
 * Changes the logs in the answers to eth_getLogs, and with `receiptsToo` in receipts. @returns whether a log changed
 */
export function changeLogs(
  calls: readonly NodeCall[],
  answers: readonly NodeAnswer[],
  { receiptsToo, change }: LogChange,
): boolean {
  let touched = false;
  for (const [index, call] of calls.entries()) {
    const answer = answers[index];
    if (!answer || answer.error) continue;
    if (call.method === 'eth_getLogs') {
      const before = resultRecords(answer);
      const after = change(before, call.params[0] as Record<string, unknown>);
      touched ||= after !== before;
      answer.result = after;
    } else if (receiptsToo && call.method === 'eth_getBlockReceipts') {
      for (const receipt of resultRecords(answer)) {
        const before = receipt['logs'] as Log[];
        receipt['logs'] = change(before, {});
        touched ||= receipt['logs'] !== before;
      }
    }
  }
  return touched;
}
