/** Which addresses a partner may live at: public ones only, so that no partner's URL reaches into our own network. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { PermanentError } from '#libs/domain';

export interface AddressPolicy {
  /**
   * The development switch: http, loopback and private ranges besides public ones. Link-local addresses, where clouds keep their
   * metadata, stay refused.
   */
  readonly allowPrivate: boolean;
}

/** @throws PermanentError PRIVATE_PARTNERS_REFUSED where production is given the development switch */
export function addressPolicy(
  options: AddressPolicy & { readonly isProduction: boolean },
): AddressPolicy {
  const { allowPrivate, isProduction } = options;
  if (allowPrivate && isProduction) {
    throw new PermanentError(
      'PRIVATE_PARTNERS_REFUSED',
      'Partners on http or on private addresses are for development only. Turn the switch off.',
    );
  }
  return { allowPrivate };
}

const DEVELOPMENT_RANGES: readonly string[] = ['loopback', 'private', 'uniqueLocal'];

/** What IANA has given out as global unicast; all other IPv6 addresses translate to something or are reserved. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public by their range, and yet the host's own: the platform services of Azure. */
const PLATFORM_ADDRESSES: readonly string[] = ['168.63.129.16'];

/**
 * Why an address must not be connected to, or undefined where it may. All embeddings of IPv4 in IPv6 (mapped, NAT64, 6to4,
 * Teredo, compatible) are refused whatever they embed: no partner needs them.
 * @param address as the system writes it: four decimal numbers, or IPv6 text; anything else is refused
 * @returns the name of the range
 */
export function addressRefusal(address: string, policy: AddressPolicy): string | undefined {
  if (isIP(address) === 0) return 'not an address';
  const range = rangeOf(ipaddr.parse(address));
  if (range === 'unicast') return undefined;
  return policy.allowPrivate && DEVELOPMENT_RANGES.includes(range) ? undefined : range;
}

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const range = address.range();
  if (range !== 'unicast') return range;
  if (address instanceof ipaddr.IPv6) {
    return address.match(GLOBAL_UNICAST) && address.zoneId === undefined ? range : 'reserved';
  }
  return PLATFORM_ADDRESSES.includes(address.toString()) ? 'platform' : range;
}
