/** A Chainlink feed on the test's chain. Counts as a test file without being one. */
import { type VaultBench } from '#libs/testing/vault';

export const FEED = `0x${'fe'.repeat(20)}`;

/**
 * Answers `decimals()` with 8, and every other call with the round that is appended to the code: compares the selector,
 * jumps, copies the five words from offset 0x26, returns.
 */
const CODE = '60003560e01c63313ce56714601b5760a06026600039' + '60a06000f35b600860005260206000f3';

export interface Round {
  /** Price with 8 decimals. */
  readonly answer: bigint;
  readonly updatedAtSeconds: number;
}

export async function putFeed(bench: VaultBench, round: Round): Promise<void> {
  const at = BigInt(round.updatedAtSeconds);
  const words = [9n, round.answer, at, at, 9n]
    .map((word) => BigInt.asUintN(256, word).toString(16).padStart(64, '0'))
    .join('');
  await bench.chain.rpc.call('anvil_setCode', FEED, `0x${CODE}${words}`);
}
