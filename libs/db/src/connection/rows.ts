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

const BYTEA_OID = 17;
const ARRAY_HEAD_BYTES = 20;
const ADDRESS_BYTES = 20;

/**
 * A parameter of type bytea[] in PostgreSQL's binary format, which pg uses for a Buffer (`array_send` in
 * src/backend/utils/adt/arrayfuncs.c: dimensions, whether there are nulls, type, length and lower bound, then length and
 * bytes of each element). Costs a seventh of the text format, and half of its bytes.
 * @throws RangeError for an address that is not one, of which a Buffer would write a part
 */
export function byteaArray(wallets: readonly Address[]): Buffer {
  const elementBytes = 4 + ADDRESS_BYTES;
  const array = Buffer.allocUnsafe(ARRAY_HEAD_BYTES + elementBytes * wallets.length);
  for (const [field, value] of [1, 0, BYTEA_OID, wallets.length, 1].entries())
    array.writeInt32BE(value, 4 * field);
  let at = ARRAY_HEAD_BYTES;
  for (const wallet of wallets) {
    array.writeInt32BE(ADDRESS_BYTES, at);
    const hex = hexOf(wallet);
    const isWhole = array.write(hex, at + 4, 'hex') === ADDRESS_BYTES;
    if (!isWhole || hex.length !== 2 * ADDRESS_BYTES)
      throw new RangeError(`not an address: ${wallet}`);
    at += elementBytes;
  }
  return array;
}

/** Values of one piece of a text. V8 makes new memory for each string above 128 KiB, which costs as much as its bytes. */
const VALUES_PER_PIECE = 1000;

/** A parameter of type text that PostgreSQL casts to an array, of values without commas and quotes. */
export function arrayText<T>(values: readonly T[], textOf: (value: T) => string | null): Buffer {
  const pieces: Buffer[] = [];
  for (let start = 0; start < values.length; start += VALUES_PER_PIECE) {
    const piece = values.slice(start, start + VALUES_PER_PIECE);
    const text = piece.map((value) => textOf(value) ?? 'NULL').join(',');
    pieces.push(Buffer.from(start === 0 ? text : `,${text}`, 'latin1'));
  }
  return Buffer.concat([Buffer.from('{'), ...pieces, Buffer.from('}')]);
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
