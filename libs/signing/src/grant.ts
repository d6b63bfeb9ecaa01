/**
 * A grant replaces an API key for some seconds, between two of our programs that have SECRETS_KEY. The console does not
 * know the keys of partners; with a grant the api answers the console as it answers the holder of the key. A grant is
 * sealed, so that it cannot be made without SECRETS_KEY, and it is bound to one credential.
 */
import { LowmarkError } from '#libs/domain';
import { type KeyRing } from './key-ring.js';

const CONTEXT = Buffer.from('lowmark grant');
const GRANT = /^svcg_[A-Za-z0-9_-]{100,300}$/;
const CONTENT = /^([0-9a-f]{64}) (\d{13})$/;

/** Whether the text has the form of a grant. */
export function isGrant(text: string): boolean {
  return GRANT.test(text);
}

/** @param keyHash hash of the credential's API key */
export function mintGrant(keyRing: KeyRing, keyHash: Buffer, untilMs: number): string {
  const sealed = keyRing.seal(`${keyHash.toString('hex')} ${untilMs}`, CONTEXT);
  return `svcg_${sealed.toString('base64url')}`;
}

/** The hash of the API key that the grant replaces; undefined where the grant is invalid or has expired. */
export function openGrant(keyRing: KeyRing, grant: string, nowMs: number): Buffer | undefined {
  const [, keyHash, untilMs] = CONTENT.exec(contentOf(keyRing, grant)) ?? [];
  if (keyHash === undefined || nowMs >= Number(untilMs)) return undefined;
  return Buffer.from(keyHash, 'hex');
}

function contentOf(keyRing: KeyRing, grant: string): string {
  if (!isGrant(grant)) return '';
  try {
    return keyRing.open(Buffer.from(grant.slice('svcg_'.length), 'base64url'), CONTEXT);
  } catch (error) {
    if (error instanceof LowmarkError) return '';
    throw error;
  }
}
