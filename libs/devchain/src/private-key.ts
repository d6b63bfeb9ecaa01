import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { type Address, parseAddress } from '#libs/domain';

/** A random private key: `0x` and 64 hex digits. */
export function mintPrivateKey(): string {
  return generatePrivateKey();
}

/** The address of a private key. @throws Error where it is none; the message does not hold it */
export function addressOfKey(key: string): Address {
  try {
    const address = parseAddress(privateKeyToAddress(key as `0x${string}`));
    if (address) return address;
  } catch {
    // The reason may quote the key.
  }
  throw new Error('not a private key: expected 0x and 64 hex digits');
}

/** The address as Sign-In with Ethereum messages carry it: capitals and small letters are its checksum (EIP-55). */
export function checksummed(address: Address): string {
  return getAddress(address);
}
