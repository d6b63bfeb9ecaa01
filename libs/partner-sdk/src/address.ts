const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** A wallet's address in lower case, however it was written; undefined for anything else. A wrong checksum is accepted. */
export function parseAddress(text: unknown): string | undefined {
  return typeof text === 'string' && ADDRESS.test(text) ? text.toLowerCase() : undefined;
}
