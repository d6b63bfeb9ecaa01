import { Global, Injectable, Module } from '@nestjs/common';
import { HttpProblem } from '#libs/service';
import { KeyRing } from '#libs/signing';
import { ConsoleSettings } from './console.env.js';

/** The key ring that seals and opens the secrets of partners. */
@Injectable()
export class Secrets {
  /** Undefined where SECRETS_KEY is not set. */
  readonly ring: KeyRing | undefined;

  /** @throws PermanentError where SECRETS_KEY is unusable */
  constructor({ secretsKey }: ConsoleSettings) {
    this.ring = secretsKey === undefined ? undefined : KeyRing.parse(secretsKey);
  }

  /** @throws HttpProblem 503 SECRETS_OFF */
  get keyRing(): KeyRing {
    if (this.ring !== undefined) return this.ring;
    const message = 'This console has no SECRETS_KEY: what needs a partner’s secret is off.';
    throw new HttpProblem(503, message, { code: 'SECRETS_OFF' });
  }
}

@Global()
@Module({ providers: [Secrets], exports: [Secrets] })
export class SecretsModule {}
