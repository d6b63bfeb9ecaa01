/** Operators' sign-ins in the audit. Refused ones are recorded too, up to a number per hour that a person can read. */
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';

export const SIGN_IN_COMMAND = 'console sign-in';
/** Actor of audit rows that no operator caused: a refused sign-in, an expired request. */
export const CONSOLE_ACTOR = 'console';
const HOUR_MS = 3_600_000;
/** Refused sign-ins that are recorded in an hour: of all consoles and networks together, and from one network. */
const MOST_REFUSED = 30;
const MOST_REFUSED_OF_NETWORK = 5;

export interface SignInNote {
  readonly by: 'wallet' | 'oidc' | 'link';
  /** The client's network address. */
  readonly from: string;
}

export interface RefusedSignInNote extends SignInNote {
  /** The addresses that count as one client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string;
  /** For example `NOT_AN_OPERATOR`. */
  readonly code: string;
  /** The identity that was shown, where it is known. */
  readonly who?: string | undefined;
  /** Number of refused sign-ins that were not recorded since the last row. */
  readonly unnoted: number;
}

const NOTE = named<{ actor: string; args: string }>(
  'sign_in_note',
  `INSERT INTO redemption.audit (actor, command, arguments, outcome) VALUES (:actor, '${SIGN_IN_COMMAND}', :args, 'done')`,
);

/** Concurrent records wait for each other, so that the limits hold. */
const LOCK = 'SELECT pg_advisory_xact_lock(4219, 2)';

const NOTE_REFUSED = named<{
  args: string;
  outcome: string;
  network: string;
  since: Date;
  at: Date;
}>(
  'sign_in_note_refused',
  `WITH newest AS (
      SELECT at, arguments FROM redemption.audit WHERE actor = '${CONSOLE_ACTOR}' AND command = '${SIGN_IN_COMMAND}'
      ORDER BY id DESC LIMIT ${MOST_REFUSED}
    ), recent AS (
      SELECT arguments FROM newest WHERE at > :since
    )
    INSERT INTO redemption.audit (at, actor, command, arguments, outcome)
    SELECT :at, '${CONSOLE_ACTOR}', '${SIGN_IN_COMMAND}', :args, :outcome
    WHERE (SELECT count(*) FROM recent) < ${MOST_REFUSED}
      AND (SELECT count(*) FROM recent
        WHERE coalesce(arguments ->> 'network', arguments ->> 'from') = :network) < ${MOST_REFUSED_OF_NETWORK}
    RETURNING id`,
);

export class SignInLog {
  constructor(private readonly database: Database) {}

  /** @param actor `operator:NAME` */
  async note(actor: string, note: SignInNote & { readonly role: string }): Promise<void> {
    await this.database.query(NOTE({ actor, args: JSON.stringify(note) }));
  }

  /** @returns false where the hour has reached its limit */
  async noteRefused({ code, ...note }: RefusedSignInNote, nowMs: number): Promise<boolean> {
    const [at, since] = [new Date(nowMs), new Date(nowMs - HOUR_MS)];
    const { unnoted, network, ...given } = note;
    const args = JSON.stringify({
      ...given,
      ...(network !== note.from && { network }),
      ...(unnoted > 0 && { unnoted }),
    });
    return this.database.transaction(async (client) => {
      await client.query(LOCK);
      const values = { args, outcome: `refused: ${code}`, network, since, at };
      return (await run(client, NOTE_REFUSED(values))).length > 0;
    });
  }
}
