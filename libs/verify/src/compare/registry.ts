import { parseAbi } from 'viem';
import { type Address } from '#libs/domain';
import { type Hex } from '../chain/effect-decoder.js';
import { type NodeClient } from '../chain/node-client.js';
import { UncheckedError } from '../verify.error.js';

const ABI = parseAbi(['function rootOf(uint256 day) view returns (bytes32)']);
const NONE = `0x${'0'.repeat(64)}`;

/** The root that the `SnapshotRegistry` at this address has of a day. @throws UncheckedError where it has none */
export async function registryRoot(
  node: NodeClient,
  address: Address,
  day: number,
): Promise<string> {
  const root = await node.asked(`the root of the registry ${address}`, () =>
    node.client.readContract({
      address: address as Hex,
      abi: ABI,
      functionName: 'rootOf',
      args: [BigInt(day)],
    }),
  );
  if (root !== NONE) return root;
  throw new UncheckedError(
    'it has no root of the day: it was not published, or with a period, out of which openDay takes it',
  );
}
