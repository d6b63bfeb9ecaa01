import { type BlockHash, type BlockRef } from '#libs/domain';
import { walletAt } from './random.js';

/** The initial state of a benchmark's index, except for its head. */
export const SYNTHETIC_INDEX = {
  fingerprint: 'bench',
  settings: {},
  chainId: 1,
  stakeContract: walletAt(-1),
  tokenContract: walletAt(-2),
  tokenSymbol: 'LOW',
  tokenDecimals: 18,
};

/** A block whose hash is its number. */
export function syntheticBlock(number: number, timestampSeconds: number): BlockRef {
  const hash = `0x${number.toString(16).padStart(64, '0')}` as BlockHash;
  return { number: BigInt(number), hash, timestampSeconds };
}
