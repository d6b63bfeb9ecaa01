import { type Address, parseAddress } from '#libs/domain';
import { type DevRpc } from './json-rpc.js';

export interface DevTransaction {
  /** One of the chain's accounts; any address where the chain runs with `autoImpersonate`. */
  readonly from: Address;
  /** Absent for a transaction that creates a contract. */
  readonly to?: Address;
  readonly data: string;
}

export interface DevReceipt {
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly succeeded: boolean;
  readonly contractAddress: string | undefined;
}

const GAS = '0x400000';

/**
 * Mines one block with these transactions, in this order, including transactions that fail.
 * @param seconds timestamp of the block in Unix seconds, not below the previous block's
 */
export async function mineBlock(
  rpc: DevRpc,
  seconds: number,
  transactions: readonly DevTransaction[],
): Promise<DevReceipt[]> {
  const hashes: string[] = [];
  for (const transaction of transactions) {
    const fields = { ...transaction, gas: GAS, gasPrice: '0x0' };
    hashes.push(await rpc.call<string>('eth_sendTransaction', fields));
  }
  await rpc.call('evm_mine', seconds);
  const receipts = await rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  );
  return receipts.map(receiptOf);
}

/** Mines one block with a single transaction. @throws Error where the transaction fails */
export async function mineOne(
  rpc: DevRpc,
  seconds: number,
  transaction: DevTransaction,
): Promise<DevReceipt> {
  const [receipt] = await mineBlock(rpc, seconds, [transaction]);
  if (receipt?.succeeded !== true) throw new Error('a transaction on the local chain failed');
  return receipt;
}

export interface DeployedContract {
  readonly address: Address;
  readonly blockNumber: bigint;
}

/** Deploys a contract in a block of its own. @throws Error where the deployment fails */
export async function deployContract(
  rpc: DevRpc,
  seconds: number,
  creation: { readonly from: Address; readonly data: string },
): Promise<DeployedContract> {
  const { contractAddress, blockNumber } = await mineOne(rpc, seconds, creation);
  const address = parseAddress(contractAddress ?? '');
  if (address === undefined) throw new Error('the local chain deployed no contract');
  return { address, blockNumber };
}

function receiptOf(value: unknown): DevReceipt {
  const receipt = value as {
    readonly transactionHash: string;
    readonly blockNumber: string;
    readonly status: string;
    readonly contractAddress: string | null;
  } | null;
  if (!receipt) throw new Error('a transaction was not mined');
  return {
    transactionHash: receipt.transactionHash,
    blockNumber: BigInt(receipt.blockNumber),
    succeeded: receipt.status === '0x1',
    contractAddress: receipt.contractAddress ?? undefined,
  };
}
