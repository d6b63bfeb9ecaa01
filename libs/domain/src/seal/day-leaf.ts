/**
 * The leaf of one wallet in the tree of a sealed day: `(address wallet, uint256 low, address next)`, hashed as a
 * standard leaf of `@openzeppelin/merkle-tree`. `next` is the following wallet in ascending order, so a leaf also
 * proves that no wallet lies between the two: it encloses every address between them. The zero address and the highest
 * address always have a leaf, so each address has a leaf of its own or lies between two. See
 * docs/decisions/0011-sealed-days.md.
 */
import { type Address, ZERO_ADDRESS } from '../values/address.js';

/** The lowest balance of a wallet on a day. */
export interface DayLow {
  readonly wallet: Address;
  /** In the token's smallest unit. */
  readonly low: bigint;
}

export interface DayLeaf extends DayLow {
  /** The wallet of the following leaf; the highest address has itself. */
  readonly next: Address;
}

/** Keccak-256 of the bytes. Each call returns a new array. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array;

/** `0x` and 64 lower-case hex digits. */
export type NodeHash = string & { readonly __brand: 'NodeHash' };

export const LAST_ADDRESS = `0x${'f'.repeat(40)}` as Address;
export const FIRST_ADDRESS = ZERO_ADDRESS;

export const WALLET_BYTES = 20;
export const LOW_BYTES = 32;
export const NODE_BYTES = 32;

const WORD = 32;
/** Offset of an address in its ABI word: an address is right-aligned. */
const ADDRESS_AT = WORD - WALLET_BYTES;

/** Hashes a leaf in its Solidity ABI encoding of three words. */
export class LeafEncoder {
  private readonly words = new Uint8Array(3 * WORD);

  constructor(private readonly keccak: Keccak256) {}

  /** `wallet` and `next` have 20 bytes, `low` has 32. */
  hash(wallet: Uint8Array, low: Uint8Array, next: Uint8Array): Uint8Array {
    const { words, keccak } = this;
    words.set(wallet, ADDRESS_AT);
    words.set(low, WORD);
    words.set(next, 2 * WORD + ADDRESS_AT);
    return keccak(keccak(words));
  }

  hashOf({ wallet, low, next }: DayLeaf): Uint8Array {
    return this.hash(addressBytes(wallet), amountBytes(low), addressBytes(next));
  }
}

export function addressBytes(wallet: Address): Uint8Array {
  return bytesOf(wallet.slice(2));
}

export function addressFrom(bytes: Uint8Array): Address {
  return `0x${hexFrom(bytes)}` as Address;
}

export function nodeBytes(node: NodeHash): Uint8Array {
  return bytesOf(node.slice(2));
}

export function nodeFrom(bytes: Uint8Array): NodeHash {
  return `0x${hexFrom(bytes)}` as NodeHash;
}

const NODE = /^0x[0-9a-f]{64}$/;

export function isNodeHash(text: string): text is NodeHash {
  return NODE.test(text);
}

/** Encodes 32 bytes, big-endian. @throws RangeError where the amount is no uint256 */
function amountBytes(amount: bigint): Uint8Array {
  const bytes = new Uint8Array(LOW_BYTES);
  writeAmount(new DataView(bytes.buffer), 0, amount);
  return bytes;
}

/** @throws RangeError where the amount is no uint256 */
export function writeAmount(view: DataView, at: number, amount: bigint): void {
  if (amount < 0n || amount >> 256n !== 0n) throw new RangeError(`${amount} is no uint256`);
  let rest = amount;
  for (let limb = LOW_BYTES - LIMB_BYTES; limb >= 0; limb -= LIMB_BYTES) {
    view.setBigUint64(at + limb, rest & LIMB);
    rest >>= 64n;
  }
}

export function readAmount(view: DataView, at: number): bigint {
  let amount = 0n;
  for (let limb = 0; limb < LOW_BYTES; limb += LIMB_BYTES) {
    amount = (amount << 64n) | view.getBigUint64(at + limb);
  }
  return amount;
}

const LIMB_BYTES = 8;
const LIMB = 2n ** 64n - 1n;

/**
 * Compares two arrays of the same length: below 0 where `a` is lower, 0 where they are equal, above 0 where `a` is
 * higher.
 */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let place = 0; place < a.length; place += 1) {
    const difference = (a[place] as number) - (b[place] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexFrom(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += HEX_OF_BYTE[byte] ?? '';
  return hex;
}

function bytesOf(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let place = 0; place < bytes.length; place += 1) {
    bytes[place] = parseInt(hex.slice(2 * place, 2 * place + 2), 16);
  }
  return bytes;
}
