import { type ChainFault, type LogFault } from './fault.js';
import { blockOf, changeLogs, type Log, resultRecords } from './logs.js';
import { type NodeAnswer, type NodeCall } from './node-call.js';

export interface ChainContext {
  /** Reads the number of the upstream's newest block. */
  readonly head: () => Promise<bigint>;
  readonly ask: (calls: readonly NodeCall[]) => Promise<NodeAnswer[]>;
}

/** Applies a fault to the answers in place. @returns whether the fault changed an answer */
export async function applyChainFault(
  fault: ChainFault,
  calls: readonly NodeCall[],
  answers: NodeAnswer[],
  context: ChainContext,
): Promise<boolean> {
  if (fault.kind === 'lie') return tellLies(fault, calls, answers);
  if (fault.kind === 'lagging') {
    return lag((await context.head()) - fault.blocks, calls, { answers, context });
  }
  if (fault.kind === 'zero-blooms' || fault.kind === 'full-blooms') {
    const digit = fault.kind === 'zero-blooms' ? '0' : 'f';
    return changeBlocks(answers, calls, (block) => {
      if (typeof block['logsBloom'] === 'string') block['logsBloom'] = `0x${digit.repeat(512)}`;
      return true;
    });
  }
  if (fault.kind === 'broken-chain') {
    return changeBlocks(answers, calls, (block) => {
      if (BigInt(block['number'] as string) !== fault.block) return false;
      block['parentHash'] = `0x${'ab'.repeat(32)}`;
      return true;
    });
  }
  if (fault.kind === 'other-format') {
    return changeBlocks(answers, calls, (block) => delete block['extraData']);
  }
  if (fault.kind === 'false-times') {
    return changeBlocks(answers, calls, (block) => shift(block, 'timestamp', fault.seconds));
  }
  if (fault.kind === 'false-final') return falsifyFinal(fault, calls, answers);
  if (fault.kind === 'late-final') return delayFinal(fault.blocks, calls, { answers, context });
  return applyLogFault(fault, calls, answers);
}

function falsifyFinal(
  { seconds = 0, blocks = 0n, fields = {} }: ChainFault & { kind: 'false-final' },
  calls: readonly NodeCall[],
  answers: NodeAnswer[],
): boolean {
  const final = answers.filter((_, index) => asksForFinal(calls[index]));
  for (const block of final.flatMap(resultRecords)) {
    shift(block, 'timestamp', seconds);
    shift(block, 'number', blocks);
    Object.assign(block, fields);
  }
  return final.length > 0;
}

async function delayFinal(
  blocks: bigint,
  calls: readonly NodeCall[],
  { answers, context }: { readonly answers: NodeAnswer[]; readonly context: ChainContext },
): Promise<boolean> {
  let touched = false;
  for (const [index, call] of calls.entries()) {
    const answer = answers[index];
    const [block] = answer ? resultRecords(answer) : [];
    if (!answer || !block || !asksForFinal(call)) continue;
    const number = BigInt(block['number'] as string) - blocks;
    const older = { ...call, params: [`0x${number.toString(16)}`, false] };
    answer.result = (await context.ask([older]))[0]?.result;
    touched = true;
  }
  return touched;
}

async function tellLies(
  { change }: ChainFault & { kind: 'lie' },
  calls: readonly NodeCall[],
  answers: readonly NodeAnswer[],
): Promise<boolean> {
  let touched = false;
  for (const [index, call] of calls.entries()) {
    const answer = answers[index];
    const result: unknown = answer && (await change(call, answer.result));
    if (!answer || result === undefined) continue;
    touched = true;
    delete answer.error;
    answer.result = result;
  }
  return touched;
}

function asksForFinal({ method, params }: Partial<NodeCall> = {}): boolean {
  return method === 'eth_getBlockByNumber' && /^(finalized|safe)$/.test(String(params?.[0]));
}

function shift(block: Record<string, unknown>, field: string, by: number | bigint): true {
  block[field] = `0x${(BigInt(block[field] as string) + BigInt(by)).toString(16)}`;
  return true;
}

function applyLogFault(
  fault: LogFault,
  calls: readonly NodeCall[],
  answers: NodeAnswer[],
): boolean {
  const receiptsToo = ('receiptsToo' in fault ? fault.receiptsToo : undefined) ?? false;
  return changeLogs(calls, answers, {
    receiptsToo,
    change: (logs, filter) => change(fault, logs, filter),
  });
}

/** @returns the logs to answer with; the same array where the fault does not apply */
function change(fault: LogFault, logs: Log[], filter: Record<string, unknown>): Log[] {
  const middle = logs[Math.floor(logs.length / 2)];
  if (!middle) return logs;
  switch (fault.kind) {
    case 'empty-logs':
      return [];
    case 'drop-one-log': {
      const dropped = pick(logs, fault.block);
      return dropped ? logs.filter((log) => log !== dropped) : logs;
    }
    case 'drop-block-logs': {
      const block = fault.block ?? blockOf(middle);
      const kept = logs.filter((log) => blockOf(log) !== block);
      return kept.length < logs.length ? kept : logs;
    }
    case 'altered-amount': {
      const altered = pick(logs, fault.block);
      if (!altered) return logs;
      const amount = BigInt(altered['data'] as string) + 1n;
      return replace(logs, altered, { data: `0x${amount.toString(16).padStart(64, '0')}` });
    }
    case 'other-fork-logs':
      return logs.map((log) => ({ ...log, blockHash: `0x${'cd'.repeat(32)}` }));
    case 'duplicate-log':
      return logs.flatMap((log) => (log === middle ? [log, { ...log }] : [log]));
    case 'unordered-logs':
      return logs.length > 1 ? [...logs].reverse() : logs;
    case 'removed-log':
      return replace(logs, middle, { removed: true });
    case 'log-out-of-range': {
      const last = logs.at(-1) ?? middle;
      const after = BigInt((filter['toBlock'] ?? last['blockNumber']) as string) + 1n;
      return replace(logs, last, { blockNumber: `0x${after.toString(16)}` });
    }
    case 'no-log-timestamps':
      return logs.map((log) => ({ ...log, blockTimestamp: undefined }));
    case 'wrong-log-timestamps':
      return logs.map((log) => ({ ...log, blockTimestamp: '0x1' }));
  }
}

function pick(logs: readonly Log[], block: bigint | undefined): Log | undefined {
  if (block === undefined) return logs[Math.floor(logs.length / 2)];
  return logs.find((log) => blockOf(log) === block);
}

function replace(logs: readonly Log[], one: Log, changes: Record<string, unknown>): Log[] {
  return logs.map((log) => (log === one ? { ...log, ...changes } : log));
}

function changeBlocks(
  answers: readonly NodeAnswer[],
  calls: readonly NodeCall[],
  change: (block: Record<string, unknown>) => boolean,
): boolean {
  let touched = false;
  for (const [index, answer] of answers.entries()) {
    if (!calls[index]?.method.startsWith('eth_getBlockBy')) continue;
    for (const block of resultRecords(answer)) touched = change(block) || touched;
  }
  return touched;
}

/** Changes the answers to those of a node that knows no block above `head`. */
async function lag(
  head: bigint,
  calls: readonly NodeCall[],
  { answers, context }: { readonly answers: NodeAnswer[]; readonly context: ChainContext },
): Promise<boolean> {
  for (const [index, call] of calls.entries()) {
    const answer = answers[index];
    if (!answer) continue;
    if (call.method === 'eth_blockNumber') answer.result = `0x${head.toString(16)}`;
    if (call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest') {
      const asked = { ...call, params: [`0x${head.toString(16)}`, ...call.params.slice(1)] };
      answer.result = (await context.ask([asked]))[0]?.result;
    } else if (call.method.startsWith('eth_getBlock')) {
      const [first] = resultRecords(answer);
      const number = first?.['number'] ?? first?.['blockNumber'];
      if (typeof number === 'string' && BigInt(number) > head) answer.result = null;
    }
    if (call.method === 'eth_getLogs') hideLogs(answer, call, head);
  }
  return true;
}

function hideLogs(answer: NodeAnswer, call: NodeCall, head: bigint): void {
  const logs = resultRecords(answer);
  const kept = logs.filter((log) => blockOf(log) <= head);
  const byHash = (call.params[0] as Record<string, unknown>)['blockHash'] !== undefined;
  if (byHash && kept.length < logs.length) {
    delete answer.result;
    answer.error = { code: -32000, message: 'unknown block' };
  } else {
    answer.result = kept;
  }
}
