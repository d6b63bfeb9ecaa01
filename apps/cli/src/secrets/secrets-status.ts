import { type Database, type SealCount, SealedSecretStore } from '#libs/db';
import { type KeyRing, sealingKeyId } from '#libs/signing';

/** How a key stands to SECRETS_KEY: it seals, it only opens, or it is not there. */
export type KeyStanding = 'first' | 'older' | 'missing';

/** How many secrets one key seals. */
export interface KeyUse {
  /** 8 hex digits; `damaged` where a stored secret names none. */
  readonly keyId: string;
  readonly standing: KeyStanding;
  /** Credentials that are good. */
  readonly credentials: number;
  readonly callbacks: number;
  /** Nothing opens these any more. */
  readonly revoked: number;
}

/** Every key of the ring, in its order, then the others that stored secrets name. */
export async function secretsStatus(database: Database, keyRing: KeyRing): Promise<KeyUse[]> {
  const counts = await new SealedSecretStore(database).counts();
  const found = counts.map(({ header }) => sealingKeyId(header) ?? 'damaged');
  return [...new Set<string>([...keyRing.keyIds, ...found])].map((keyId) => {
    const ours = counts.filter((_, index) => found[index] === keyId);
    const sum = (which: (count: SealCount) => boolean): number =>
      ours.filter(which).reduce((total, { count }) => total + count, 0);
    return {
      keyId,
      standing: standingOf(keyId, keyRing),
      credentials: sum(({ place, isRevoked }) => place === 'credential' && !isRevoked),
      callbacks: sum(({ place }) => place === 'callback'),
      revoked: sum(({ isRevoked }) => isRevoked),
    };
  });
}

/** The secrets that somebody still needs opened. */
export function neededOf({ credentials, callbacks }: KeyUse): number {
  return credentials + callbacks;
}

function standingOf(keyId: string, { keyIds }: KeyRing): KeyStanding {
  if (keyId === keyIds[0]) return 'first';
  return keyIds.includes(keyId) ? 'older' : 'missing';
}
