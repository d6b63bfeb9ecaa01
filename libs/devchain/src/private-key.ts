import { privateKeyToAddress } from 'viem/accounts';
import { type Address, parseAddress } from '#libs/domain';

/**
 * The address of a private key. @throws Error where the text is no private key; the message does not contain the text
 */
export function addressOfKey(key: string): Address {
  try {
    const address = parseAddress(privateKeyToAddress(key as `0x${string}`));
    if (address) return address;
  } catch {
    // The error is dropped, because its message may quote the key.
  }
  throw new Error('not a private key: expected 0x and 64 hex digits');
}
