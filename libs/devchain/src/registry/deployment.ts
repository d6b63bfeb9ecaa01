import { encodeDeployData } from 'viem';
import { snapshotRegistryAbi, snapshotRegistryBytecode } from '#libs/chain';
import { type Address } from '#libs/domain';
import { type DevRpc } from '../json-rpc.js';
import { deployContract } from '../mined-block.js';

type Hex = `0x${string}`;

interface RegistrySetup {
  /** Deploys the registry, and is its administrator: one of the chain's accounts. */
  readonly admin: Address;
  /** Given some of the chain's coin, as it pays for its transactions. */
  readonly publisher: Address;
  /** The contracts whose days it holds, as `stakedInText` writes them. */
  readonly stakedIn: string;
}

const ADMIN_DELAY_SECONDS = 86_400;
/** 10,000 of the chain's coin. */
const COINS = '0x21e19e0c9bab2400000';

/**
 * Deploys a SnapshotRegistry on a local chain, in a block of its own.
 * @param seconds Unix seconds, not below the newest block's timestamp
 */
export async function deployLocalRegistry(
  rpc: DevRpc,
  { admin, publisher, stakedIn }: RegistrySetup,
  seconds: number,
): Promise<Address> {
  const data = encodeDeployData({
    abi: snapshotRegistryAbi,
    bytecode: snapshotRegistryBytecode,
    args: [admin as Hex, ADMIN_DELAY_SECONDS, publisher as Hex, stakedIn],
  });
  const { address: registry } = await deployContract(rpc, seconds, { from: admin, data });
  await rpc.call('anvil_setBalance', publisher, COINS);
  return registry;
}
