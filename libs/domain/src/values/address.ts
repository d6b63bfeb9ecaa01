/** An EVM address: `0x` and 40 lower-case hex digits. */
export type Address = string & { readonly __brand: 'Address' };

/** The other party of mint and burn events. It never has a balance. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Address;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The address in lower case, or undefined where the text is not `0x` and 40 hex digits. A checksum is not verified. */
export function parseAddress(text: string): Address | undefined {
  return ADDRESS.test(text) ? (text.toLowerCase() as Address) : undefined;
}

/**
 * Four digits of any value, 28 zeros, and eight digits of any value: the zero address, the usual `0x…dead` of burned
 * tokens, and where chains have their precompiles, predeploys and system contracts (Ethereum, Arbitrum, BNB Chain,
 * Polygon and ZK Stack below 2^32; Avalanche at 0x01… to 0x03…, OP Stack at 0x42…, Scroll at 0x53…, Taiko at 0x1670…). A
 * key for such an address would take 2^112 tries.
 */
const RESERVED = /^0x[0-9a-f]{4}0{28}[0-9a-f]{8}$/;
/** Stands for the chain's own coin, or for no address: digits of one kind. */
const PLACEHOLDER = /^0x(?:e{40}|f{40})$/;

/**
 * Whether an address has no key: it can sign nothing, and what is paid to it is lost.
 * @param contracts contracts of the installation; these sign nothing and give back nothing
 */
export function isUnheldAddress(address: Address, contracts: readonly Address[] = []): boolean {
  return RESERVED.test(address) || PLACEHOLDER.test(address) || contracts.includes(address);
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
