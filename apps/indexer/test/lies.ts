/** False but consistent answers that one node can give, for the fault `lie` of a faulty node. */
import { type Address } from '#libs/domain';
import { type Fault, type NodeCall } from '#libs/testing/fake-node';

type Json = Record<string, unknown>;
type Lie = Extract<Fault, { readonly kind: 'lie' }>;

/** Selector of `balanceOf(address)`. Any call without arguments counts as a call of the total. */
const BALANCE_OF = '0x70a08231';

export const hexOf = (value: number | bigint): string => `0x${value.toString(16)}`;
export const lie = (change: Lie['change']): Lie => ({ kind: 'lie', change });

const isBlock = ({ method }: NodeCall): boolean => method === 'eth_getBlockByNumber';
const numberOf = (item: Json): number => Number(item['number'] ?? item['blockNumber']);

/** Changes the time of some blocks, in headers and logs. */
export function otherTimes(isOther: (block: number) => boolean, seconds: (was: number) => number) {
  return lie((call, result) => {
    if (isBlock(call) && result !== null && isOther(numberOf(result as Json))) {
      const block = result as Json;
      return { ...block, timestamp: hexOf(seconds(Number(block['timestamp']))) };
    }
    if (call.method !== 'eth_getLogs') return undefined;
    return (result as Json[]).map((log) =>
      isOther(numberOf(log))
        ? { ...log, blockTimestamp: hexOf(seconds(Number(log['blockTimestamp']))) }
        : log,
    );
  });
}

/** A chain that ends at block `last`, dated in the future. */
export function deadChain(last: Json, final: Json, futureSeconds: number): Lie {
  const end = Number(last['number']);
  const timestamp = hexOf(futureSeconds);
  return lie((call, result) => {
    if (isBlock(call)) {
      const [which] = call.params;
      if (which === 'latest' || Number(which) === end) return { ...last, timestamp };
      if (which === 'finalized') return final;
      return Number(which) > end ? null : undefined;
    }
    if (call.method !== 'eth_getLogs') return undefined;
    return (result as Json[])
      .filter((log) => numberOf(log) <= end)
      .map((log) => (numberOf(log) === end ? { ...log, blockTimestamp: timestamp } : log));
  });
}

export interface FiguresLie {
  /** First block at whose end the figures are false. */
  readonly from: number;
  readonly more: bigint;
  /** The figure of this wallet is false; where absent, the total is. */
  readonly wallet?: Address;
  /** Block numbers by block hash. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly contract: Address;
}

/** Raises the contract's own figures. */
export function moreStaked({ from, more, wallet, numbers, contract }: FiguresLie): Lie {
  return lie(({ method, params }, result) => {
    if (method !== 'eth_call' || typeof result !== 'string' || result.length !== 66) {
      return undefined;
    }
    const [call, when] = params as [Json, string | { blockHash: string }];
    const data = String(call['data'] ?? call['input']);
    const isBalance = data.startsWith(BALANCE_OF);
    const isMeant = wallet === undefined ? !isBalance : isBalance && data.endsWith(wallet.slice(2));
    if (String(call['to']).toLowerCase() !== contract || !isMeant) return undefined;
    const newest = Number.MAX_SAFE_INTEGER;
    const at =
      typeof when === 'object'
        ? (numbers.get(when.blockHash) ?? newest)
        : when === 'latest'
          ? newest
          : Number(when);
    if (at < from) return undefined;
    return `0x${(BigInt(result) + more).toString(16).padStart(64, '0')}`;
  });
}

/** Raises the amount of a block's first event, always or when `when` says so. */
export function largerAmount(block: number, more: bigint, when: () => boolean = () => true): Lie {
  return lie(({ method }, result) => {
    if (method !== 'eth_getLogs' || !Array.isArray(result)) return undefined;
    const logs = result as Json[];
    const first = logs.find((log) => numberOf(log) === block);
    if (!first || !when()) return undefined;
    const data = `0x${(BigInt(first['data'] as string) + more).toString(16).padStart(64, '0')}`;
    return logs.map((log) => (log === first ? { ...log, data } : log));
  });
}

/** Adds an invented event to the end of a block's receipts. */
export function inventedInReceipts(log: Json, amount: bigint): Lie {
  return lie(({ method, params }, result) => {
    if (method !== 'eth_getBlockReceipts' || Number(params[0]) !== numberOf(log)) return undefined;
    const receipts = structuredClone(result) as (Json & { logs: Json[] })[];
    const newest = Math.max(
      ...receipts.flatMap(({ logs }) => logs).map((one) => Number(one['logIndex'])),
    );
    const data = `0x${amount.toString(16).padStart(64, '0')}`;
    receipts.at(-1)?.logs.push({ ...log, data, logIndex: hexOf(newest + 1) });
    return receipts;
  });
}
