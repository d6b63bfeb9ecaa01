/** Verifies proofs of sealed days without a request to the service; see the service's `docs/wire/days.md`. */
import { createKeccak, type IHasher } from 'hash-wasm';
import { parseAddress } from '../address.js';

/** A leaf of a day's tree, `(address wallet, uint256 low, address next)`; addresses in lower case. */
export interface DayLeaf {
  readonly wallet: string;
  /** The low-water mark: a whole number in the token's smallest unit. */
  readonly low: string;
  /** The wallet of the next leaf in ascending order. */
  readonly next: string;
}

/** A proof of a wallet's low-water mark. */
export interface DayProof {
  /** The root of the sealed day. */
  readonly root: string;
  /** The wallet's own leaf, or the leaf that encloses the wallet between its `wallet` and `next`. */
  readonly leaf: DayLeaf;
  /** The sibling nodes, from the sibling of the leaf upwards. */
  readonly proof: readonly string[];
}

const NODE = /^0x[0-9a-f]{64}$/;
const AMOUNT = /^(?:0|[1-9]\d{0,77})$/;
/** Limit of the steps of a proof, above the height of any tree. */
const MOST_STEPS = 64;

let hasher: Promise<IHasher> | undefined;

/**
 * The lowest balance of a wallet on the day, in the token's smallest unit. The balance is 0 where the leaf encloses the
 * wallet, since the wallet then has no leaf of its own.
 * @param wallet `0x` and 40 hex digits, in any case
 * @returns undefined where the proof does not lead to the root, or the leaf says nothing about the wallet
 */
export async function provenLow(
  wallet: string,
  { root, leaf, proof }: DayProof,
): Promise<bigint | undefined> {
  const address = parseAddress(wallet);
  if (address === undefined || !isLeaf(leaf) || proof.length > MOST_STEPS) return undefined;
  if (![root, ...proof].every((node) => NODE.test(node))) return undefined;
  const isOwn = leaf.wallet === address;
  if (!isOwn && !(leaf.wallet < address && address < leaf.next)) return undefined;
  const keccak = await (hasher ??= createKeccak(256));
  const hash = (bytes: Buffer): Buffer => Buffer.from(keccak.init().update(bytes).digest('binary'));
  let node = hash(hash(encoded(leaf)));
  for (const sibling of proof) {
    const other = Buffer.from(sibling.slice(2), 'hex');
    node = hash(Buffer.concat(node.compare(other) <= 0 ? [node, other] : [other, node]));
  }
  if (`0x${node.toString('hex')}` !== root) return undefined;
  return isOwn ? BigInt(leaf.low) : 0n;
}

function isLeaf({ wallet, low, next }: DayLeaf): boolean {
  const areAddresses = parseAddress(wallet) === wallet && parseAddress(next) === next;
  return areAddresses && AMOUNT.test(low) && BigInt(low) >> 256n === 0n;
}

/** The leaf as Solidity's `abi.encode` encodes it: three words. */
function encoded({ wallet, low, next }: DayLeaf): Buffer {
  const words = [wallet.slice(2), BigInt(low).toString(16), next.slice(2)];
  return Buffer.from(words.map((word) => word.padStart(64, '0')).join(''), 'hex');
}
