import { isIP } from 'node:net';
import { type AddressPolicy, addressRefusal } from './address-policy.js';

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
