import { encodeDeployData, encodeFunctionData, maxUint256 } from 'viem';
import { lowmarkTokenAbi, lowmarkTokenBytecode, stakingAbi, stakingBytecode } from '#libs/chain';
import { type Address, parseAddress } from '#libs/domain';
import { type DevRpc } from '../json-rpc.js';
import { deployContract, mineOne } from '../mined-block.js';

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
  const treasury = parseAddress(first ?? '');
  if (treasury === undefined) throw new Error('the local chain has no account');
  const { address: token } = await deployContract(rpc, seconds, {
    from: treasury,
    data: encodeDeployData({
      abi: lowmarkTokenAbi,
      bytecode: lowmarkTokenBytecode,
      args: [treasury as `0x${string}`, SUPPLY],
    }),
  });
  const { address: staking, blockNumber: startBlock } = await deployContract(rpc, seconds, {
    from: treasury,
    data: encodeDeployData({
      abi: stakingAbi,
      bytecode: stakingBytecode,
      args: [token as `0x${string}`],
    }),
  });
  const data = encodeFunctionData({
    abi: lowmarkTokenAbi,
    functionName: 'approve',
    args: [staking as `0x${string}`, maxUint256],
  });
  await mineOne(rpc, seconds, { from: treasury, to: token, data });
  return { token, staking, startBlock, treasury };
}
