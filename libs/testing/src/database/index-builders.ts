import { type InitialIndexState } from '#libs/db';
import { type Address, type BlockHash, type BlockRef, type FoldedBlocks } from '#libs/domain';

/** A wallet address made from a small number. */
export function aWallet(ordinal: number): Address {
  return `0x${'a11ce'.repeat(6)}${ordinal.toString(16).padStart(10, '0')}` as Address;
}

/** A block whose hash follows from its number and branch. By default it comes 12 seconds after the block before it. */
export function aBlock(
  number: number,
  timestampSeconds = 1_700_000_000 + number * 12,
  branch = 0,
): BlockRef {
  const digits = number.toString(16).padStart(16, '0');
  const hash = `0x${branch.toString(16).padStart(48, '0')}${digits}` as BlockHash;
  return { number: BigInt(number), hash, timestampSeconds };
}

/**
 * Rows to commit as they are, whether or not they agree with each other or with the index.
 * @param total by how much the sum of all balances changes
 */
export function aFold({
  total = 0n,
  ...rows
}: Partial<Pick<FoldedBlocks, 'changes' | 'days' | 'wallets'>> & { total?: bigint }): FoldedBlocks {
  const [last] = (rows.days ?? []).map(({ day }) => day).sort((a, b) => b - a);
  const dayDeltas = new Map(last === undefined ? [] : [[last, total]]);
  return { changes: [], days: [], wallets: [], ...rows, totalDelta: total, dayDeltas };
}

export function anInitialIndex(overrides: Partial<InitialIndexState> = {}): InitialIndexState {
  return {
    fingerprint: 'sample',
    settings: { events: 'staked-withdrawn' },
    chainId: 31_337,
    stakeContract: aWallet(0xa1),
    tokenContract: aWallet(0xa2),
    tokenSymbol: 'LOW',
    tokenDecimals: 18,
    head: aBlock(0),
    ...overrides,
  };
}
