/**
 * The keys under which a client address is limited. An IPv4 address counts alone, however it is written. One subscriber of IPv6 holds a
 * whole /64, and one customer of a provider up to a /48 (RFC 6177), so those are what counts. What is no address at all, as a proxy may
 * pass it on, shares one key: texts that a client makes up must not each have a limit of their own.
 */
import { isIPv4, isIPv6 } from 'node:net';

const UNKNOWN = 'unknown';
/** Longer is no address, with a zone or a port either. */
const LONGEST = 128;

/** Of an IPv6 address its /64. */
export function addressKey(address: string | undefined): string {
  const found = parse(address);
  return typeof found === 'string' ? found : prefixOf(found, 4);
}

/** Of an IPv6 address its /48; undefined for all others, which have no wider network that would be one client's. */
export function siteKey(address: string | undefined): string | undefined {
  const found = parse(address);
  return typeof found === 'string' ? undefined : prefixOf(found, 3);
}

/** An IPv4 address as it is written, the eight groups of an IPv6 one, or UNKNOWN. */
function parse(address = ''): string | readonly number[] {
  if (address.length > LONGEST) return UNKNOWN;
  const text = withoutPort(address.trim());
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return UNKNOWN;
  const groups = groupsOf(text);
  return mappedOf(groups) ?? groups;
}

/** Some proxies add the port, `192.0.2.1:443` or `[2001:db8::1]:443`; a zone names an interface of the server's own. */
function withoutPort(text: string): string {
  const bracketed = /^\[(.*)\](?::\d{1,5})?$/.exec(text)?.[1];
  const bare = bracketed ?? /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return bare.replace(/%.*$/, '');
}

function groupsOf(address: string): number[] {
  const [left = '', right] = address.split('::');
  const [head, tail] = [numbersOf(left), right === undefined ? [] : numbersOf(right)];
  return [...head, ...Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0), ...tail];
}

/** A dotted tail stands for two groups. */
function numbersOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** The socket writes an IPv4 client as an IPv6 one, `::ffff:192.0.2.1` (RFC 4291, 2.5.5.2), and others may in hex. */
function mappedOf(groups: readonly number[]): string | undefined {
  if (groups.slice(0, 5).some((group) => group !== 0) || groups[5] !== 0xffff) return undefined;
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
  return bytes.join('.');
}

function prefixOf(groups: readonly number[], count: number): string {
  const prefix = groups.slice(0, count).map((group) => group.toString(16));
  return `${prefix.join(':')}::/${count * 16}`;
}
