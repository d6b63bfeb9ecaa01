/** Which addresses a partner may live at: public ones only, so that no partner's URL reaches into our own network. */
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
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

export interface PartnerUrl {
  readonly isTls: boolean;
  /** `https://host:port`, without a path. */
  readonly origin: string;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The base URL's own path, without a slash at its end; may be empty. */
  readonly basePath: string;
}

export type PartnerUrlFault = 'invalid-url' | 'blocked-address';

export type ParsedPartnerUrl =
  | { readonly ok: true; readonly url: PartnerUrl }
  | { readonly ok: false; readonly fault: PartnerUrlFault; readonly message: string };

const MAX_LENGTH = 2000;

/**
 * Reads a partner's base URL. The WHATWG parser turns every notation of an IPv4 address (decimal, octal, hexadecimal, short,
 * full-width digits) into four decimal numbers, so what is checked is what would be connected to. Names are checked when they
 * are resolved.
 * @returns the fault with a message that never shows the URL, which may hold a credential
 */
export function parsePartnerUrl(text: string, policy: AddressPolicy): ParsedPartnerUrl {
  if (text.length > MAX_LENGTH || !URL.canParse(text)) return invalid('is not a URL');
  const url = new URL(text);
  const isTls = url.protocol === 'https:';
  if (!isTls && !(policy.allowPrivate && url.protocol === 'http:')) {
    return invalid('does not begin with https://');
  }
  if (url.username !== '' || url.password !== '') return invalid('holds a user or a password');
  // An empty query or fragment leaves no other trace.
  if (/[?#]/.test(text)) return invalid('holds a query or a fragment');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) {
    const range = addressRefusal(host, policy);
    if (range !== undefined) {
      const message = `The partner's URL names an address that is not public (${range}).`;
      return { ok: false, fault: 'blocked-address', message };
    }
  }
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  if (port === 0) return invalid('names port 0');
  const basePath = url.pathname.replace(/\/+$/, '');
  return { ok: true, url: { isTls, origin: url.origin, host, port, basePath } };
}

function invalid(what: string): ParsedPartnerUrl {
  return { ok: false, fault: 'invalid-url', message: `The partner's URL ${what}.` };
}
