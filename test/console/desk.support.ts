/** The console with redemptions in every state, and the command line. Support code, not a test. */
import {
  type AuditRow,
  type Ran,
  runCaptured,
} from '../../apps/cli/src/testing/cli-bench.support.js';
import { aStored, type Case } from '../../apps/cli/src/testing/redemption-rows.support.js';
import {
  ConsoleBench,
  type Place,
} from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { CallbackStore } from '#libs/db';
import { type PartnerId, type Redemption } from '#libs/domain';
import { KeyRing, hashApiKey, mintSecretsKey } from '#libs/signing';
import { EVIDENCE_KEY } from '#libs/testing/evidence';

export class DeskBench {
  private constructor(
    readonly console: ConsoleBench,
    readonly secretsKey: string,
  ) {}

  /**
   * Starts without two-person approval.
   * @param overrides settings; an empty string removes one
   * @param place default: one console at a port of its own
   */
  static async start(overrides: Record<string, string> = {}, place?: Place): Promise<DeskBench> {
    const secretsKey = mintSecretsKey().toString('base64');
    const alone = { APPROVAL_ABOVE_USD: '' };
    const settings = { SECRETS_KEY: secretsKey, EVIDENCE_KEY, ...alone, ...overrides };
    return new DeskBench(await ConsoleBench.start(settings, {}, place), secretsKey);
  }

  stop(): Promise<void> {
    return this.console.stop();
  }

  /** Adds a partner with which points can be redeemed. @returns its id */
  async game(name: string): Promise<PartnerId> {
    const partnerId = await this.console.partner(name);
    const key = 'pk-live-7Qm2-callback-key';
    const keyRing = KeyRing.parse(this.secretsKey);
    await new CallbackStore(this.console.database).change(partnerId, () => ({
      ...{ url: 'https://game.example', key, confirms: true, capabilities: [] },
      secretCiphertext: keyRing.seal('the-secret-of-the-game', hashApiKey(key)),
      usdPerPoint: { digits: 1n, scale: 2 },
      dailyTokenBudget: { digits: 1_000_000n, scale: 0 },
    }));
    return partnerId;
  }

  stored(partner: PartnerId, name: Case, change: Partial<Redemption> = {}): Promise<Redemption> {
    return aStored(this.console.database, partner, name, change);
  }

  /** Runs a command as an operator would. */
  cli(...argv: string[]): Promise<Ran> {
    return this.cliWith({}, ...argv);
  }

  cliWith(more: Record<string, string>, ...argv: string[]): Promise<Ran> {
    const DATABASE_URL = this.console.test.urlAs('cli');
    return runCaptured(argv, { DATABASE_URL, SECRETS_KEY: this.secretsKey, EVIDENCE_KEY, ...more });
  }

  /** The latest rows of the audit, newest first. */
  async audit(limit = 1): Promise<AuditRow[]> {
    const { rows } = await this.console.database.pool.query<AuditRow>(
      'SELECT actor, command, redemption_id, partner, arguments, outcome FROM redemption.audit ORDER BY id DESC LIMIT $1',
      [limit],
    );
    return rows;
  }
}

/** The JSON body of a successful answer. @throws Error where the answer is not successful */
export async function bodyOf<T>(answer: Promise<Response>): Promise<T> {
  const found = await answer;
  if (!found.ok) throw new Error(`${found.status} ${await found.text()}`);
  return (await found.json()) as T;
}

export function get<T>(visitor: Visitor, path: string): Promise<T> {
  return bodyOf<T>(visitor.get(path));
}
