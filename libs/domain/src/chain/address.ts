/** An EVM address: `0x` and 40 lower-case hex digits. */
export type Address = string & { readonly __brand: 'Address' };

/** The other party of mint and burn events. It never has a balance. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Address;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The address in lower case, or undefined where the text is not `0x` and 40 hex digits. A checksum is not verified. */
export function parseAddress(text: string): Address | undefined {
  return ADDRESS.test(text) ? (text.toLowerCase() as Address) : undefined;
}

/** An account on a chain (CAIP-10). */
export interface AccountId {
  readonly chainId: number;
  readonly address: Address;
}

const EIP155 = /^eip155:([1-9]\d{0,15}):(0x[0-9a-fA-F]{40})$/;

/**
 * Parses a CAIP-10 account id such as `eip155:1:0x…`, with the address in any case; undefined for any other text, and
 * for other kinds of chains.
 * @see https://standards.chainagnostic.org/CAIPs/caip-10
 */
export function parseAccountId(text: string): AccountId | undefined {
  const [, chain = '', digits = ''] = EIP155.exec(text) ?? [];
  const [chainId, address] = [Number(chain), parseAddress(digits)];
  return address !== undefined && Number.isSafeInteger(chainId) ? { chainId, address } : undefined;
}

/** The CAIP-10 account id, with the address in lower case. */
export function accountIdText({ chainId, address }: AccountId): string {
  return `eip155:${chainId}:${address}`;
}
