import { encodeDeployData, encodeFunctionData, type Hex, maxUint256 } from 'viem';
import {
  lowmarkTokenAbi,
  lowmarkTokenBytecode,
  redemptionVaultAbi,
  redemptionVaultBytecode,
  snapshotRegistryAbi,
  snapshotRegistryBytecode,
  stakingAbi,
  stakingBytecode,
} from '#libs/chain';
import { type Address, parseAddress } from '#libs/domain';
import { type DevRpc } from './json-rpc.js';
import { deployContract, mineOne } from './mined-block.js';

export interface StakingDeployment {
  readonly token: Address;
  readonly staking: Address;
  /** Block of the contract's deployment; no event is older. */
  readonly startBlock: bigint;
  /** Owns the whole supply, and pays for the stakes of wallets without tokens. */
  readonly treasury: Address;
}

const SUPPLY = 10n ** 30n;

/**
 * Deploys the token and the staking contract, and approves the staking contract for the treasury's tokens: three
 * blocks, all at `seconds`.
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
      args: [treasury as Hex, SUPPLY],
    }),
  });
  const { address: staking, blockNumber: startBlock } = await deployContract(rpc, seconds, {
    from: treasury,
    data: encodeDeployData({
      abi: stakingAbi,
      bytecode: stakingBytecode,
      args: [token as Hex],
    }),
  });
  const data = encodeFunctionData({
    abi: lowmarkTokenAbi,
    functionName: 'approve',
    args: [staking as Hex, maxUint256],
  });
  await mineOne(rpc, seconds, { from: treasury, to: token, data });
  return { token, staking, startBlock, treasury };
}

export interface VaultSetup {
  /** The token that the vault pays; `treasury` owns its supply. */
  readonly token: Address;
  /** Deploys, fills and administers the vault: one of the chain's accounts. */
  readonly treasury: Address;
  readonly signer: Address;
  /** Gets some of the chain's coin for gas, as it sends transactions. Default: the treasury. */
  readonly canceller?: Address;
  /** Default: the treasury. */
  readonly pauser?: Address;
  /** Tokens transferred to the vault, in the smallest unit; default 10^24, a million tokens of 18 decimals. */
  readonly funds?: bigint;
  /** Default: a day. */
  readonly windowSeconds?: bigint;
  /** Default: 10^24. */
  readonly windowCap?: bigint;
  /** Default: a day. */
  readonly maxTtlSeconds?: bigint;
  /** Default: a day. */
  readonly adminDelaySeconds?: number;
}

export interface LocalVault {
  readonly vault: Address;
  /** Block of the vault's deployment; no event is older. */
  readonly startBlock: bigint;
}

const FUNDS = 10n ** 24n;
const DAY = 86_400n;
/** 10,000 units of the chain's coin, in wei. */
const COINS = '0x21e19e0c9bab2400000';

/**
 * Deploys a redemption vault on a local chain and fills it: two blocks, both at `seconds`, or one where the funds are
 * 0.
 * @param seconds Unix seconds, not below the newest block's timestamp
 */
export async function deployLocalVault(
  rpc: DevRpc,
  setup: VaultSetup,
  seconds: number,
): Promise<LocalVault> {
  const { token, treasury, canceller = treasury, funds = FUNDS } = setup;
  const creation = { from: treasury, data: creationOf(setup) };
  const { address: vault, blockNumber: startBlock } = await deployContract(rpc, seconds, creation);
  await rpc.call('anvil_setBalance', canceller, COINS);
  if (funds > 0n) {
    const transfer = encodeFunctionData({
      abi: lowmarkTokenAbi,
      functionName: 'transfer',
      args: [vault as Hex, funds],
    });
    await mineOne(rpc, seconds, { from: treasury, to: token, data: transfer });
  }
  return { vault, startBlock };
}

function creationOf(setup: VaultSetup): Hex {
  const { token, treasury, signer, canceller = treasury, pauser = treasury } = setup;
  const { windowSeconds = DAY, windowCap = FUNDS, maxTtlSeconds = DAY } = setup;
  const { adminDelaySeconds = Number(DAY) } = setup;
  const roles = {
    admin: treasury as Hex,
    signer: signer as Hex,
    canceller: canceller as Hex,
    pauser: pauser as Hex,
  };
  return encodeDeployData({
    abi: redemptionVaultAbi,
    bytecode: redemptionVaultBytecode,
    args: [token as Hex, roles, { windowSeconds, windowCap, maxTtlSeconds, adminDelaySeconds }],
  });
}

interface RegistrySetup {
  /** Deploys and administers the registry: one of the chain's accounts. */
  readonly admin: Address;
  /** Gets some of the chain's coin for gas, as it sends transactions. */
  readonly publisher: Address;
  /** The contracts whose days the registry holds, in the format of `stakedInText`. */
  readonly stakedIn: string;
}

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
    args: [admin as Hex, Number(DAY), publisher as Hex, stakedIn],
  });
  const { address: registry } = await deployContract(rpc, seconds, { from: admin, data });
  await rpc.call('anvil_setBalance', publisher, COINS);
  return registry;
}
