import { isIPv6 } from 'node:net';

/**
 * The key under which a client address is limited. One subscriber of IPv6 holds a whole /64, so that is what counts; an IPv4
 * address counts alone, also where the socket writes it as an IPv6 one.
 */
export function addressKey(address: string | undefined): string {
  // What comes through a trusted proxy may be any text.
  const text = (address ?? 'unknown').slice(0, 64).toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(text) ? `${network(text)}::/64` : text;
}

function network(address: string): string {
  const [left = '', right] = address.replace(/%.*$/, '').split('::');
  const head = groups(left);
  const tail = right === undefined ? [] : groups(right);
  const filled = [
    ...head,
    ...Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0'),
    ...tail,
  ];
  return filled
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':');
}

/** A dotted tail stands for two groups; its value lies beyond the first 64 bits. */
function groups(part: string): string[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
