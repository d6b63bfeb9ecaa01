import { type Database, SECRET_PLACES, type SealedSecret, SealedSecretStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { hashApiKey, type KeyRing, sealingKeyId } from '#libs/signing';
import { type AuditedCommand } from '../audited.js';

const BATCH = 100;

/** A secret that could not be put under the first key. */
export interface LeftSecret {
  readonly place: string;
  readonly partnerName: string;
  readonly isRevoked: boolean;
  readonly why: string;
}

export interface Rewrapped {
  readonly changed: number;
  /** Under the first key already. */
  readonly unchanged: number;
  readonly left: readonly LeftSecret[];
}

/**
 * Puts every stored secret under the first key of the ring, batch by batch. Every one is opened, also those that are under it already:
 * what cannot be opened stays as it is and is told. A second run finds nothing left to do.
 * @param onProgress told after each batch how many were looked at
 * @throws DatabaseUnavailableError, DatabaseRefusedError; the batches before stay done
 */
export async function rewrapSecrets(
  database: Database,
  keyRing: KeyRing,
  { actor, command }: AuditedCommand,
  onProgress: (seen: number) => void,
): Promise<Rewrapped> {
  const store = new SealedSecretStore(database);
  const [to] = keyRing.keyIds;
  const left: LeftSecret[] = [];
  let [changed, unchanged] = [0, 0];
  for (const place of SECRET_PLACES) {
    let after: string | undefined;
    do {
      // Counted once the batch is stored.
      const seen = { same: 0, left: [] as LeftSecret[], changed: 0 };
      const reseal = (secret: SealedSecret): Buffer | undefined => {
        const sealed = resealed(keyRing, secret);
        if (sealed instanceof LowmarkError) {
          const { partnerName, isRevoked } = secret;
          const why = `${sealed.message} [${sealed.code}]`;
          seen.left.push({ place, partnerName, isRevoked, why });
          return undefined;
        }
        if (sealingKeyId(secret.sealed) !== to) return sealed;
        seen.same += 1;
        return undefined;
      };
      after = await store.rewrap({ place, after, limit: BATCH }, reseal, (count) => {
        seen.changed = count;
        const note = { command, arguments: { place, secrets: count, underKey: to } };
        return { actor, note: { ...note, outcome: 'done' } };
      });
      changed += seen.changed;
      unchanged += seen.same;
      left.push(...seen.left);
      onProgress(changed + unchanged + left.length);
    } while (after !== undefined);
  }
  return { changed, unchanged, left };
}

function resealed(keyRing: KeyRing, secret: SealedSecret): Buffer | LowmarkError {
  const { keyHash, callbackKey, sealed } = secret;
  const context = keyHash ?? hashApiKey(callbackKey ?? '');
  try {
    return keyRing.seal(keyRing.open(sealed, context), context);
  } catch (error) {
    if (error instanceof LowmarkError) return error;
    throw error;
  }
}
