import { PermanentError } from '#libs/domain';

/**
 * The api has SECRETS_KEY as well, and must not be able to make a MAC of the redemption service.
 * @throws PermanentError EVIDENCE_KEY_SHARED; the message repeats no key
 */
export function refuseSharedEvidenceKey(evidenceKey: string, secretsKey: string): void {
  const secrets = keysOf(secretsKey);
  if (!keysOf(evidenceKey).some((key) => secrets.includes(key))) return;
  throw new PermanentError(
    'EVIDENCE_KEY_SHARED',
    'EVIDENCE_KEY is one of SECRETS_KEY, which the api has as well: make one of its own, openssl rand -base64 32.',
  );
}

function keysOf(text: string): string[] {
  return text.split(',').map((key) => key.trim());
}
