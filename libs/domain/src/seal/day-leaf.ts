/**
 * The leaf of one wallet in the tree of a sealed day: `(address wallet, uint256 low, address next)`, hashed as a standard leaf of
 * `@openzeppelin/merkle-tree`. `next` is the following wallet in ascending order, so that a leaf also proves that there is no wallet
 * between the two. The zero address and the highest address always have a leaf: each address is either in a leaf or between two.
 * See docs/decisions/0011-sealed-days.md.
 */
import { type Address, ZERO_ADDRESS } from '../chain/address.js';

/** The lowest balance that a wallet held on a day. */
export interface DayLow {
  readonly wallet: Address;
  /** In the token's smallest unit. */
  readonly low: bigint;
}

export interface DayLeaf extends DayLow {
  /** The wallet of the following leaf; the highest address follows itself. */
  readonly next: Address;
}

/** Keccak-256 of the bytes, in an array of its own. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array;

/** `0x` and 64 lower-case hex digits. */
export type NodeHash = string & { readonly __brand: 'NodeHash' };

export const LAST_ADDRESS = `0x${'f'.repeat(40)}` as Address;
export const FIRST_ADDRESS = ZERO_ADDRESS;

export const WALLET_BYTES = 20;
export const LOW_BYTES = 32;
export const NODE_BYTES = 32;

const WORD = 32;
/** An address is at the end of its word. */
const ADDRESS_AT = WORD - WALLET_BYTES;

/** The leaf as Solidity encodes it: three words. */
export class LeafEncoder {
  private readonly words = new Uint8Array(3 * WORD);

  constructor(private readonly keccak: Keccak256) {}

  /** @param wallet of 20 bytes, as `next`; `low` of 32 */
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

/** 32 bytes, big-endian. @throws RangeError where the amount is no uint256 */
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

/** Below 0, 0 or above, as `a` is below, the same as, or above `b`; both of one length. */
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
