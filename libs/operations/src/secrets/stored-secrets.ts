import {
  type Database,
  type SealCount,
  type SealedSecret,
  SealedSecretStore,
  SECRET_PLACES,
} from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { hashApiKey, type KeyRing, sealingKeyId, webhookSealContext } from '#libs/signing';
import { Operation, type OperationContext, operatorOf } from '../operation/operation.js';

/**
 * The role of a key in SECRETS_KEY: the first one seals, an older one only opens, and a missing one is not in the ring.
 */
export type KeyStanding = 'first' | 'older' | 'missing';

/** How many secrets one key has sealed. */
export interface KeyUse {
  /** 8 hex digits; `damaged` for secrets that name no key. */
  readonly keyId: string;
  readonly standing: KeyStanding;
  /** Valid credentials. */
  readonly credentials: number;
  readonly callbacks: number;
  /** Valid signing secrets of webhooks. */
  readonly webhooks: number;
  /** Revoked secrets, which are not opened any more. */
  readonly revoked: number;
}

/** The keys of the ring in their order, then the other keys that stored secrets name. */
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
      webhooks: sum(({ place, isRevoked }) => place === 'webhook' && !isRevoked),
      revoked: sum(({ isRevoked }) => isRevoked),
    };
  });
}

/** How many secrets under the key are still opened. */
export function inUseCount({ credentials, callbacks, webhooks }: KeyUse): number {
  return credentials + callbacks + webhooks;
}

function standingOf(keyId: string, { keyIds }: KeyRing): KeyStanding {
  if (keyId === keyIds[0]) return 'first';
  return keyIds.includes(keyId) ? 'older' : 'missing';
}

const BATCH = 100;

/** A secret that could not be sealed under the first key, and why. */
export interface FailedSecret {
  readonly place: string;
  readonly partnerName: string;
  readonly isRevoked: boolean;
  readonly why: string;
}

export interface Rewrapped {
  readonly changed: number;
  /** Secrets that were under the first key already. */
  readonly unchanged: number;
  readonly left: readonly FailedSecret[];
  /** Afterwards. */
  readonly keys: readonly KeyUse[];
}

/**
 * Seals every stored secret under the first key of the ring, batch by batch. Every secret is opened, even one that is
 * under the first key already. A secret that cannot be opened stays as it is and is reported in `left`. A second run has
 * nothing left to change.
 */
export class RewrapSecrets extends Operation<Rewrapped> {
  static readonly spec = {
    command: 'secrets rewrap',
    description: 'seal every stored secret again under the first key of SECRETS_KEY',
    consequence: 'Every stored secret is sealed again under the first key of SECRETS_KEY.',
    needs: 'secretsKey',
  } as const;

  /** @throws DatabaseUnavailableError, DatabaseRefusedError; earlier batches stay done */
  async perform(context: OperationContext): Promise<Rewrapped> {
    const { database, onProgress } = context;
    const { actor, command } = operatorOf(this, context);
    const keyRing = context.keyRing();
    const store = new SealedSecretStore(database);
    const [to] = keyRing.keyIds;
    const left: FailedSecret[] = [];
    let [changed, unchanged] = [0, 0];
    for (const place of SECRET_PLACES) {
      let after: string | undefined;
      do {
        // Added to the totals once the batch is stored.
        const seen = { same: 0, left: [] as FailedSecret[], changed: 0 };
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
        after = await store.resealBatch({ place, after, limit: BATCH }, reseal, (count) => {
          seen.changed = count;
          const note = { command, arguments: { place, secrets: count, underKey: to } };
          return { actor, note: { ...note, outcome: 'done' } };
        });
        changed += seen.changed;
        unchanged += seen.same;
        left.push(...seen.left);
        onProgress?.(`${changed + unchanged + left.length} secrets looked at`);
      } while (after !== undefined);
    }
    return { changed, unchanged, left, keys: await secretsStatus(database, keyRing) };
  }
}

function resealed(keyRing: KeyRing, secret: SealedSecret): Buffer | LowmarkError {
  const { sealed } = secret;
  const context = contextOf(secret);
  try {
    return keyRing.seal(keyRing.open(sealed, context), context);
  } catch (error) {
    if (error instanceof LowmarkError) return error;
    throw error;
  }
}

function contextOf({ keyHash, callbackKey, subscription }: SealedSecret): Uint8Array {
  if (subscription !== undefined) return webhookSealContext(subscription);
  return keyHash ?? hashApiKey(callbackKey ?? '');
}
