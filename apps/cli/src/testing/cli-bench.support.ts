/** Runs command lines on a database of its own, as an operator does. Counts as a test file without being one. */
import { type PartnerId } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { mintSecretsKey } from '#libs/signing';
import { type Database } from '#libs/db';
import { resolvePartner } from '#libs/operations';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { runCli } from '../cli.js';
import { type Terminal } from '../command.js';

export const CALLBACK_KEY = 'pk-live-7Qm2-callback-key';
export const CALLBACK_SECRET = 'whsec/Zx+81"no-body-may-see-this';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface AuditRow {
  readonly actor: string;
  readonly command: string;
  readonly redemption_id: string | null;
  readonly partner: PartnerId | null;
  readonly arguments: object;
  readonly outcome: string;
}

type Answers = Pick<Terminal, 'ask' | 'input'>;

/** Runs a command line at a terminal, or with text on the standard input. */
export async function runCaptured(
  argv: readonly string[],
  settings: Readonly<Record<string, string>>,
  { clock, ...terminal }: Answers & { readonly clock?: Clock } = {},
): Promise<Ran> {
  let [out, err] = ['', ''];
  const streams = {
    ...terminal,
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
  };
  const code = await runCli(argv, streams, () => settings, clock);
  return { code, out, err };
}

export class CliBench {
  /** All output so far. */
  printed = '';
  readonly settings: Record<string, string>;

  private constructor(
    private readonly test: TestDatabase,
    readonly database: Database,
  ) {
    this.settings = {
      DATABASE_URL: test.urlAs('cli'),
      SECRETS_KEY: mintSecretsKey().toString('base64'),
      EVIDENCE_KEY,
    };
  }

  static async start(): Promise<CliBench> {
    const test = await createTestDatabase();
    return new CliBench(test, await test.open());
  }

  /** Runs the command line as the owner of the database. */
  runAsOwner(...argv: string[]): Promise<Ran> {
    return this.runWith({ settings: { DATABASE_URL: this.test.url } }, ...argv);
  }

  drop(): Promise<void> {
    return this.test.drop();
  }

  async run(...argv: string[]): Promise<Ran> {
    return this.runWith({}, ...argv);
  }

  /** Runs a command line at a terminal, or with text on the standard input. */
  async runWith(
    { settings, ...answers }: Answers & { readonly settings?: Record<string, string> },
    ...argv: string[]
  ): Promise<Ran> {
    const ran = await runCaptured(argv, { ...this.settings, ...settings }, answers);
    this.printed += ran.out + ran.err;
    return ran;
  }

  /** Creates a partner with a callback, whose secret is passed on the standard input. */
  async partner(name: string, url: string, ...more: string[]): Promise<PartnerId> {
    const callback = [
      '--callback-url',
      url,
      '--callback-key',
      CALLBACK_KEY,
      '--callback-secret',
      '-',
    ];
    const created = await this.runWith(
      { input: () => Promise.resolve(`${CALLBACK_SECRET}\n`) },
      ...['partner', 'create', '--name', name, '--usd-per-point', '0.01', ...callback, ...more],
    );
    if (created.code !== 0) throw new Error(created.err);
    return (await resolvePartner(this.database, name)).partnerId;
  }

  /** Rows of the audit log, newest first. */
  async audit(): Promise<AuditRow[]> {
    const { rows } = await this.database.pool.query<AuditRow>(
      'SELECT actor, command, redemption_id, partner, arguments, outcome FROM redemption.audit ORDER BY id DESC',
    );
    return rows;
  }

  /** All rows that operators and logs show, as text. */
  async written(): Promise<string> {
    const { rows } = await this.database.pool.query<{ text: string }>(
      `SELECT row_to_json(a)::text AS text FROM redemption.audit a
        UNION ALL SELECT row_to_json(c)::text FROM redemption.partner_call c
        UNION ALL SELECT row_to_json(p)::text FROM partners.credential p
        UNION ALL SELECT row_to_json(t)::text FROM redemption.transition t`,
    );
    return rows.map(({ text }) => text).join('\n');
  }
}
