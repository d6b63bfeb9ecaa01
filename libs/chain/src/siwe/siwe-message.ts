import { parseSiweMessage } from 'viem/siwe';
import { type Address, parseAddress } from '#libs/domain';

/** What a Sign-In with Ethereum message says, its form checked and nothing else. */
export interface SiweMessage {
  /** Host and port of the page that asked for it, as written. */
  readonly domain: string;
  readonly wallet: Address;
  readonly uri: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly notBeforeMs: number | undefined;
}

const LONGEST_MESSAGE = 4096;
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)`;

/**
 * The whole of EIP-4361, version 1, line by line. viem's parser finds its fields wherever they are and skips what it does not know:
 * a wallet would show its user text that was not checked here.
 */
const FORM = new RegExp(
  String.raw`^(?:[A-Za-z][A-Za-z0-9+.-]*://)?[A-Za-z0-9.-]+(?::\d{1,5})? wants you to sign in with your Ethereum account:\n` +
    String.raw`0x[0-9a-fA-F]{40}\n\n(?:[^\r\n]+\n)?\n` +
    String.raw`URI: [^\s]+\nVersion: 1\nChain ID: \d{1,15}\nNonce: [A-Za-z0-9]{8,255}\nIssued At: ${TIME}` +
    String.raw`(?:\nExpiration Time: ${TIME})?(?:\nNot Before: ${TIME})?(?:\nRequest ID: [^\r\n]*)?(?:\nResources:(?:\n- [^\r\n]+)*)?$`,
);

/** @returns undefined where the text is not such a message in every line, or a time in it does not exist */
export function parseSiwe(text: string): SiweMessage | undefined {
  if (text.length > LONGEST_MESSAGE || !FORM.test(text)) return undefined;
  const { domain, address, uri, chainId, nonce, ...times } = parseSiweMessage(text);
  const wallet = parseAddress(address ?? '');
  const issuedAtMs = times.issuedAt?.getTime() ?? NaN;
  const [expiresAtMs, notBeforeMs] = [times.expirationTime?.getTime(), times.notBefore?.getTime()];
  const isDated = [issuedAtMs, expiresAtMs ?? 0, notBeforeMs ?? 0].every(Number.isFinite);
  if (!domain || !wallet || !uri || chainId === undefined || !nonce || !isDated) return undefined;
  return { domain, wallet, uri, chainId, nonce, issuedAtMs, expiresAtMs, notBeforeMs };
}
