const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** A wallet's address in lower case, from any case; undefined for anything else. A wrong checksum is accepted. */
export function parseAddress(text: unknown): string | undefined {
  return typeof text === 'string' && ADDRESS.test(text) ? text.toLowerCase() : undefined;
}

const ACCOUNT_ID = /^eip155:[1-9]\d{0,15}:0x[0-9a-fA-F]{40}$/;

/** A contract's CAIP-10 account id in lower case; undefined for anything else. */
export function parseAccountId(text: unknown): string | undefined {
  return typeof text === 'string' && ACCOUNT_ID.test(text) ? text.toLowerCase() : undefined;
}
