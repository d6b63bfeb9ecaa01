/** The roots in a SnapshotRegistry, and the calls that read and set them. Days are counted from 1970-01-01 UTC. */
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { isNodeHash, type NodeHash } from '#libs/domain';
import { snapshotRegistryAbi as abi } from '../abi/snapshot-registry.generated.js';
import { type Hex } from '../rpc/hex.js';

const NO_ROOT = 0n;
/** `0x` and one word. */
const ROOT_LENGTH = 66;

/** Calldata of a transaction to the registry that publishes; its sender must hold `PUBLISHER_ROLE`. */
export function publishCalldata(day: number, root: NodeHash): Hex {
  const args = [BigInt(day), root as string as Hex] as const;
  return encodeFunctionData({ abi, functionName: 'publish', args });
}

export function rootOfCalldata(day: number): Hex {
  return encodeFunctionData({ abi, functionName: 'rootOf', args: [BigInt(day)] });
}

/**
 * @returns undefined where nothing is published for the day, or the registry did not exist yet. @throws RangeError for
 * an answer of another form
 */
export function rootIn(data: Hex): NodeHash | undefined {
  if (data === '0x') return undefined;
  if (data.length !== ROOT_LENGTH) throw new RangeError('an answer has another length');
  const root: string = decodeFunctionResult({ abi, functionName: 'rootOf', data });
  if (!isNodeHash(root)) throw new RangeError('a root is no hash');
  return BigInt(root) === NO_ROOT ? undefined : root;
}
