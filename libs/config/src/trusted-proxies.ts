import { BlockList, isIP } from 'node:net';
import { commaList } from './setting.js';

const NAMED_RANGES = ['loopback', 'linklocal', 'uniquelocal'];

/** TRUSTED_PROXIES: whose word is taken for a client's address. */
export function trustedProxies(text: string): string[] {
  const parts = commaList(text);
  if (!parts.every((part) => NAMED_RANGES.includes(part) || isRange(part))) {
    throw new Error(
      `must be a list of addresses, of ranges such as 10.0.0.0/8, or of ${NAMED_RANGES.join(', ')}`,
    );
  }
  return parts;
}

function isRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), version === 6 ? 'ipv6' : 'ipv4');
    return true;
  } catch {
    return false;
  }
}
