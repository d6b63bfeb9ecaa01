/** What a proof of a sealed day says of a wallet, worked out here: the service is not asked. See the service's `docs/wire/days.md`. */
import { createKeccak, type IHasher } from 'hash-wasm';
import { parseAddress } from '../address.js';

/** `(address wallet, uint256 low, address next)`; addresses in lower case. */
export interface DayLeaf {
  readonly wallet: string;
  /** A whole number in the token's smallest unit. */
  readonly low: string;
  /** The wallet of the following leaf in ascending order. */
  readonly next: string;
}

export interface DayProof {
  /** Of the sealed day. */
  readonly root: string;
  /** The wallet's own, or the one that encloses it. */
  readonly leaf: DayLeaf;
  /** From the leaf's sibling up. */
  readonly proof: readonly string[];
}

const NODE = /^0x[0-9a-f]{64}$/;
const AMOUNT = /^(?:0|[1-9]\d{0,77})$/;
/** More steps than any tree has. */
const MOST_STEPS = 64;

let hasher: Promise<IHasher> | undefined;

/**
 * The lowest balance that a wallet held on the day, in the token's smallest unit; 0 where the leaf encloses it, as it has no leaf of
 * its own then.
 * @param wallet `0x` and 40 hex digits, in any capitals
 * @returns undefined where the proof does not lead to the root, or its leaf does not tell of the wallet
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

/** As Solidity encodes it: three words. */
function encoded({ wallet, low, next }: DayLeaf): Buffer {
  const words = [wallet.slice(2), BigInt(low).toString(16), next.slice(2)];
  return Buffer.from(words.map((word) => word.padStart(64, '0')).join(''), 'hex');
}
