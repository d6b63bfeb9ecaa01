import { encodeDeployData, encodeFunctionData, maxUint256 } from 'viem';
import { lowmarkTokenAbi, lowmarkTokenBytecode, stakingAbi, stakingBytecode } from '#libs/chain';
import { type Address, parseAddress } from '#libs/domain';
import { type DevRpc } from '../json-rpc.js';
import { mineOne } from '../mined-block.js';

/** Where the contracts of a local chain are. */
export interface StakingDeployment {
  readonly token: Address;
  readonly staking: Address;
  /** The block that holds the staking contract; no event is older. */
  readonly startBlock: bigint;
  /** Owns the whole supply, and pays for the stakes of wallets that hold no tokens. */
  readonly treasury: Address;
}

const SUPPLY = 10n ** 30n;

/**
 * Deploys the token and the staking contract and lets the latter take the treasury's tokens: three blocks, all at `seconds`.
 * @param seconds Unix seconds, not below the newest block's timestamp
 */
export async function deployStaking(rpc: DevRpc, seconds: number): Promise<StakingDeployment> {
  const [first] = await rpc.call<string[]>('eth_accounts');
  const treasury = addressOf(first);
  const token = await deploy(rpc, treasury, {
    data: encodeDeployData({
      abi: lowmarkTokenAbi,
      bytecode: lowmarkTokenBytecode,
      args: [treasury as `0x${string}`, SUPPLY],
    }),
    seconds,
  });
  const staking = await deploy(rpc, treasury, {
    data: encodeDeployData({
      abi: stakingAbi,
      bytecode: stakingBytecode,
      args: [token.address as `0x${string}`],
    }),
    seconds,
  });
  const data = encodeFunctionData({
    abi: lowmarkTokenAbi,
    functionName: 'approve',
    args: [staking.address as `0x${string}`, maxUint256],
  });
  await mineOne(rpc, seconds, { from: treasury, to: token.address, data });
  return {
    token: token.address,
    staking: staking.address,
    startBlock: staking.blockNumber,
    treasury,
  };
}

async function deploy(
  rpc: DevRpc,
  from: Address,
  { data, seconds }: { data: string; seconds: number },
): Promise<{ address: Address; blockNumber: bigint }> {
  const receipt = await mineOne(rpc, seconds, { from, data });
  return {
    address: addressOf(receipt.contractAddress),
    blockNumber: receipt.blockNumber,
  };
}

function addressOf(text: string | undefined): Address {
  const address = parseAddress(text ?? '');
  if (!address) throw new Error('the local chain answered with something that is not an address');
  return address;
}
