import { getAddress } from 'viem';
import { type Address } from '#libs/domain';

/** The address as Sign-In with Ethereum messages carry it: capitals and small letters are its checksum (EIP-55). */
export function checksummed(address: Address): string {
  return getAddress(address);
}
