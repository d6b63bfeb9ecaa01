import { Injectable } from '@nestjs/common';
import { evidenceKeys } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { type EvidenceKeys, type KeyRing } from '#libs/signing';
import { ConsoleSettings } from '../console.env.js';
import { Secrets } from '../secrets.module.js';

/** Keys that only some actions need. Where a key is not set, the refusal names the command to run where the key is. */
@Injectable()
export class OperateKeys {
  private readonly evidence: EvidenceKeys | undefined;

  /** @throws PermanentError where a key is unusable */
  constructor(
    private readonly secrets: Secrets,
    { secretsKey, evidenceKey }: ConsoleSettings,
  ) {
    this.evidence =
      evidenceKey === undefined ? undefined : evidenceKeys({ evidenceKey, secretsKey });
  }

  get canSeal(): boolean {
    return this.evidence !== undefined;
  }

  /**
   * The keys for the secrets of partners.
   * @param command for the refusal, see `keyMissingText`.
   * @throws HttpProblem 503
   */
  keyRing(command: string): KeyRing {
    const { ring } = this.secrets;
    if (ring === undefined) throw keyMissing('SECRETS_KEY', command);
    return ring;
  }

  /**
   * The keys for the MACs of redemptions.
   * @param command for the refusal, see `keyMissingText`.
   * @throws HttpProblem 503
   */
  seal(command: string): EvidenceKeys {
    if (this.evidence === undefined) throw keyMissing('EVIDENCE_KEY', command);
    return this.evidence;
  }
}

type Key = 'SECRETS_KEY' | 'EVIDENCE_KEY';

/** With compose: how to start the cli in the container that has the key. */
const IN_COMPOSE: Readonly<Record<Key, string>> = {
  SECRETS_KEY: './lowmark cli',
  EVIDENCE_KEY: 'docker compose run --rm --no-deps redemption node dist/apps/cli/src/main.js',
};

/** @param command the command that does the same where the key is set */
export function keyMissingText(setting: Key, command: string): string {
  return `This console has no ${setting}: set it, or do it where it is set: ${IN_COMPOSE[setting]} ${command} with compose, npm run --silent cli -- ${command} in a clone.`;
}

function keyMissing(setting: Key, command: string): HttpProblem {
  return new HttpProblem(503, keyMissingText(setting, command), { code: 'SETTING_MISSING' });
}
