/** An EVM address: `0x` and 40 lower-case hex digits. */
export type Address = string & { readonly __brand: 'Address' };

/** Stands for mint and burn in events, and holds nothing. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Address;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The address in lower case, or undefined where the text is not `0x` and 40 hex digits. A checksum is not verified. */
export function parseAddress(text: string): Address | undefined {
  return ADDRESS.test(text) ? (text.toLowerCase() as Address) : undefined;
}
