import { Injectable } from '@nestjs/common';
import { evidenceKeys } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { type EvidenceKeys, KeyRing } from '#libs/signing';
import { ConsoleSettings } from '../console.env.js';

/** The keys that only some actions need; a console without them says so, and with which command the same is done. */
@Injectable()
export class OperateKeys {
  private readonly ring: KeyRing | undefined;
  private readonly evidence: EvidenceKeys | undefined;

  /** @throws PermanentError where one of them is unusable */
  constructor({ secretsKey, evidenceKey }: ConsoleSettings) {
    this.ring = secretsKey === undefined ? undefined : KeyRing.parse(secretsKey);
    this.evidence =
      evidenceKey === undefined ? undefined : evidenceKeys({ evidenceKey, secretsKey });
  }

  get canSeal(): boolean {
    return this.evidence !== undefined;
  }

  /** Of partner secrets. @throws HttpProblem 503 */
  keyRing(command: string): KeyRing {
    if (this.ring === undefined) throw keyMissing('SECRETS_KEY', command);
    return this.ring;
  }

  /** Of redemptions' rows. @throws HttpProblem 503 */
  seal(command: string): EvidenceKeys {
    if (this.evidence === undefined) throw keyMissing('EVIDENCE_KEY', command);
    return this.evidence;
  }
}

type Key = 'SECRETS_KEY' | 'EVIDENCE_KEY';

/** Where each key is beside a compose file. */
const IN_COMPOSE: Readonly<Record<Key, string>> = {
  SECRETS_KEY: './lowmark cli',
  EVIDENCE_KEY: 'docker compose run --rm --no-deps redemption node dist/apps/cli/src/main.js',
};

/** @param command that does the same, where the key is */
export function keyMissingText(setting: Key, command: string): string {
  return `This console has no ${setting}: set it, or do it where it is set: ${IN_COMPOSE[setting]} ${command} with compose, npm run --silent cli -- ${command} in a clone.`;
}

function keyMissing(setting: Key, command: string): HttpProblem {
  return new HttpProblem(503, keyMissingText(setting, command), { code: 'SETTING_MISSING' });
}
