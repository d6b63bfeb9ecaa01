/** The setup of a registry, for the service before it publishes and for an operator. */
import { decodeFunctionResult, encodeFunctionData, keccak256, stringToBytes } from 'viem/utils';
import { accountIdText, type Address } from '#libs/domain';
import { snapshotRegistryAbi as abi } from '../abi/snapshot-registry.generated.js';
import { bytesUnlessReverted, ethCall, wordIn } from '../calls/pinned-calls.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { type Hex, wideQuantity } from '../rpc/hex.js';

const PUBLISHER_ROLE = keccak256(stringToBytes('PUBLISHER_ROLE'));
/** Gas of one publication, which takes 48,000. */
const GAS_OF_PUBLICATION = 80_000n;
/** Number of publications that an account should be able to pay for. */
export const PUBLICATIONS_KEPT = 30n;

export interface RegistryFacts {
  readonly hasCode: boolean;
  readonly isRegistry: boolean;
  readonly mayPublish: boolean;
  /**
   * The staking contracts that the registry is for: CAIP-10 account ids, separated by commas; undefined where it is no
   * registry.
   */
  readonly stakedIn: string | undefined;
  /**
   * Balance of the publisher, in the smallest unit of the chain's coin; undefined where the endpoint does not report
   * it.
   */
  readonly coin: bigint | undefined;
  /**
   * Number of publications that the balance pays at the current price; undefined where gas is free, or a figure is
   * missing.
   */
  readonly publications: bigint | undefined;
}

interface RegistryQuestion {
  readonly registry: Address;
  readonly publisher: Address;
}

/** Reads the facts at the newest block. An address without a registry is no error. @throws AllEndpointsFailedError */
export async function readRegistryFacts(
  pool: RpcPool,
  { registry, publisher }: RegistryQuestion,
): Promise<RegistryFacts> {
  const role = encodeFunctionData({ abi, functionName: 'PUBLISHER_ROLE' });
  const mayPublish = encodeFunctionData({
    abi,
    functionName: 'hasRole',
    args: [PUBLISHER_ROLE, publisher as Hex],
  });
  const stakedIn = encodeFunctionData({ abi, functionName: 'stakedIn' });
  const { results, answers } = await pool.run(async (session) => {
    const answer = await session.batch([
      { method: 'eth_getBalance', params: [publisher, 'latest'] },
      { method: 'eth_gasPrice', params: [] },
      { method: 'eth_getCode', params: [registry, 'latest'] },
      ...[role, mayPublish, stakedIn].map((data) => ethCall({ to: registry, data }, 'latest')),
    ]);
    // A missing contract is an answer. Where the node cannot answer now, the error makes the pool ask another one.
    const bytes = answer.results.slice(2).map((result) => bytesUnlessReverted(result, session));
    return { results: answer.results, answers: bytes };
  });
  const [balance, price] = results;
  const [code, itsRole, holds, text] = answers;
  const coin = wideQuantity(balance?.ok === true ? balance.value : undefined);
  const gasPrice = wideQuantity(price?.ok === true ? price.value : undefined);
  const staked = textOf(text);
  return {
    hasCode: code !== undefined && code !== '0x',
    isRegistry: itsRole === PUBLISHER_ROLE && staked !== undefined,
    mayPublish: wordIn(holds) === 1n,
    stakedIn: staked,
    coin,
    publications: payable(coin, gasPrice),
  };
}

/** Faults of the setup, as texts for an operator. */
export function registryFaults(
  facts: RegistryFacts,
  { registry, publisher, chainId }: RegistryQuestion & { readonly chainId: number },
): string[] {
  if (!facts.hasCode) {
    return [`REGISTRY_ADDRESS: there is no contract at ${registry} on chain ${chainId}.`];
  }
  if (!facts.isRegistry) {
    return [`REGISTRY_ADDRESS: ${registry} is not a SnapshotRegistry.`];
  }
  return facts.mayPublish
    ? []
    : [
        `REGISTRY_PRIVATE_KEY: its address ${publisher} does not hold PUBLISHER_ROLE of ${registry}. Let its admin grant it, or correct the key.`,
      ];
}

/** The text that `stakedIn` of a registry must have for these contracts; their order does not matter. */
export function stakedInText(chainId: number, contracts: readonly Address[]): string {
  return contracts.map((address) => accountIdText({ chainId, address })).join(',');
}

/** Whether a registry is for exactly these contracts; their order and the case of the digits do not matter. */
export function isRegistryOf(
  text: string,
  chainId: number,
  contracts: readonly Address[],
): boolean {
  const sorted = (ids: string): string =>
    ids
      .toLowerCase()
      .split(',')
      .map((id) => id.trim())
      .sort()
      .join(',');
  return sorted(text) === sorted(stakedInText(chainId, contracts));
}

function payable(coin: bigint | undefined, gasPrice: bigint | undefined): bigint | undefined {
  if (coin === undefined || gasPrice === undefined || gasPrice === 0n) return undefined;
  return coin / (gasPrice * GAS_OF_PUBLICATION);
}

function textOf(data: Hex | undefined): string | undefined {
  if (data === undefined || data === '0x') return undefined;
  try {
    return decodeFunctionResult({ abi, functionName: 'stakedIn', data });
  } catch {
    // Another contract, whose answer has another form.
    return undefined;
  }
}
