import { Injectable } from '@nestjs/common';
import { type PartnerId } from '#libs/domain';
import { CallbackStore, CredentialStore, type SealedCredential } from '#libs/db';
import { HttpProblem } from '#libs/service';
import { hashApiKey } from '#libs/signing';
import { type ConsoleMember } from '../auth/audience.js';
import { Secrets } from '../secrets.module.js';

/** Opens the secrets of the session's partner, to verify and to explain signatures. No secret leaves the console. */
@Injectable()
export class OwnSecrets {
  constructor(
    private readonly secrets: Secrets,
    private readonly credentials: CredentialStore,
    private readonly callbacks: CallbackStore,
  ) {}

  /** All credentials of the partner, newest first, including those that no longer work. */
  sealed({ partnerId }: ConsoleMember): Promise<SealedCredential[]> {
    return this.credentials.sealedOf(partnerId);
  }

  /** The newest credential with this prefix of its key. @throws HttpProblem 404 */
  async find(member: ConsoleMember, keyPrefix: string): Promise<SealedCredential> {
    const found = (await this.sealed(member)).find((one) => one.keyPrefix === keyPrefix);
    if (found !== undefined) return found;
    throw new HttpProblem(404, 'You have no credential with this prefix.', {
      code: 'CREDENTIAL_MISSING',
    });
  }

  /** @throws HttpProblem 503 SECRETS_OFF; PermanentError where the secret was sealed under a key that is gone */
  open({ secretCiphertext, keyHash }: SealedCredential): string {
    return this.secrets.keyRing.open(secretCiphertext, keyHash);
  }

  /** The callback with its secret; undefined where none is set. */
  async callback(partnerId: PartnerId) {
    const found = await this.callbacks.find(partnerId);
    if (found === undefined) return undefined;
    const { url, key, secretCiphertext, confirms } = found;
    const secret = this.secrets.keyRing.open(secretCiphertext, hashApiKey(key));
    return { url, key, secret, confirms };
  }
}
