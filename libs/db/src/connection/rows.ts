/** Conversions between rows and domain values. In rows, addresses and hashes are hex digits without `0x`. */
import {
  type Address,
  type BlockHash,
  type BlockRef,
  type Decimal,
  type NodeHash,
} from '#libs/domain';

/** The row of a T: bigint and numeric columns are text, absent values are null. */
export type RowOf<T> = { readonly [Field in keyof T]: Column<T[Field]> };
type Column<T> = T extends bigint ? string : T extends undefined ? null : T;

export type Nullable<T> = { readonly [Field in keyof T]: T[Field] | null };

export function addressOf(hex: string): Address {
  return `0x${hex}` as Address;
}

export function hashOf(hex: string): BlockHash {
  return `0x${hex}` as BlockHash;
}

export function nodeOf(hex: string): NodeHash {
  return `0x${hex}` as NodeHash;
}

export function hexOf(value: Address | BlockHash | NodeHash): string {
  return value.slice(2);
}

export function addressBytes(address: Address): Buffer {
  return Buffer.from(address.slice(2), 'hex');
}

/**
 * A bytea array as PostgreSQL writes it, several times faster to build and to parse than the driver's quoted elements.
 */
export function byteaArray(wallets: readonly Address[]): string {
  return `{${wallets.map((wallet) => `"\\\\x${wallet.slice(2)}"`).join(',')}}`;
}

/** Number, hash and time of a block, as columns in one array. */
export type BlockColumns = readonly [number: string, hash: string, seconds: string];

/** The block in the three columns, or undefined where they are null. Either all of them are null or none. */
export function blockOf(...columns: BlockColumns): BlockRef;
export function blockOf(...columns: Nullable<BlockColumns>): BlockRef | undefined;
export function blockOf(...[number, hash, seconds]: Nullable<BlockColumns>): BlockRef | undefined {
  if (number === null || hash === null || seconds === null) return undefined;
  return { number: BigInt(number), hash: hashOf(hash), timestampSeconds: Number(seconds) };
}

/** The text form of PostgreSQL's numeric: plain digits that keep their scale. */
export function decimalText({ digits, scale }: Decimal): string {
  const sign = digits < 0n ? '-' : '';
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}

/** JSON with amounts and block numbers as strings. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? inner.toString() : inner,
  );
}
