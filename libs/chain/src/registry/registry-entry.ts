/** The contents of a SnapshotRegistry, and the calls that read and set them. */
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { isNodeHash, type NodeHash } from '#libs/domain';
import { snapshotRegistryAbi as abi } from '../abi/snapshot-registry.generated.js';
import { type Hex } from '../shape/hex.js';

/** A single day, or the days of a period with one root. Days are counted from 1970-01-01 UTC. */
export interface RegistrySlot {
  readonly kind: 'day' | 'period';
  readonly firstDay: number;
  /** For a single day, the same as `firstDay`. */
  readonly lastDay: number;
}

export interface RegistryEntry {
  readonly lastDay: number;
  readonly root: NodeHash;
}

const NO_ROOT = 0n;

/** Calldata of a transaction to the registry that publishes; its sender must hold `PUBLISHER_ROLE`. */
export function publishCalldata(
  { kind, firstDay, lastDay }: RegistrySlot,
  published: NodeHash,
): Hex {
  const [first, last, root] = [BigInt(firstDay), BigInt(lastDay), published as string as Hex];
  return kind === 'day'
    ? encodeFunctionData({ abi, functionName: 'publish', args: [first, root] })
    : encodeFunctionData({ abi, functionName: 'publishPeriod', args: [first, last, root] });
}

/** Calldata of a transaction that takes a day out of a published period; any account may send it. */
export function openDayCalldata(
  firstDay: number,
  { day, root, proof }: { day: number; root: NodeHash; proof: readonly NodeHash[] },
): Hex {
  const hashes = proof.map((node) => node as string as Hex);
  return encodeFunctionData({
    abi,
    functionName: 'openDay',
    args: [BigInt(firstDay), BigInt(day), root as string as Hex, hashes],
  });
}

export function slotCalldata({ kind, firstDay }: RegistrySlot): Hex {
  const args = [BigInt(firstDay)] as const;
  return kind === 'day'
    ? encodeFunctionData({ abi, functionName: 'rootOf', args })
    : encodeFunctionData({ abi, functionName: 'periods', args });
}

/**
 * @returns undefined where nothing is published in the slot, or the registry did not exist yet. @throws RangeError for
 * an answer of another form
 */
export function entryOf({ kind, lastDay }: RegistrySlot, data: Hex): RegistryEntry | undefined {
  if (data === '0x') return undefined;
  if (kind === 'day') {
    requireWords(data, 1);
    return entry(lastDay, decodeFunctionResult({ abi, functionName: 'rootOf', data }));
  }
  requireWords(data, 2);
  const [last, root] = decodeFunctionResult({ abi, functionName: 'periods', data });
  return entry(Number(last), root);
}

function entry(lastDay: number, root: string): RegistryEntry | undefined {
  if (!isNodeHash(root)) throw new RangeError('a root is no hash');
  return BigInt(root) === NO_ROOT ? undefined : { lastDay, root };
}

function requireWords(data: Hex, words: number): void {
  if (data.length !== 2 + words * 64) throw new RangeError('an answer has another length');
}
