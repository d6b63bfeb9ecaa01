import { sessionUrl } from '#libs/config';
import {
  excessRights,
  type ForeignSetting,
  missingRights,
  OLDEST_VERSION,
  type Program,
  PROGRAM_ROLES,
  PROGRAMS,
  readForeignSettings,
  readSchema,
  readServerFacts,
  type ServerFacts,
} from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { DatabaseUrl } from '#libs/platform';
import {
  type Answer,
  type Check,
  check,
  CheckEnded,
  fault,
  ok,
  SCHEMA,
  table,
  warning,
} from './checks.js';
import { type Subject } from './subject.js';

const NOTABLE_SECONDS = 2;
const WRONG_SECONDS = 30;

interface Server extends ServerFacts {
  readonly where: string;
  /** How far the server's clock is ahead of this machine's, in milliseconds. */
  readonly aheadMs: number;
}

const MEMBER = {
  text: `SELECT rolname AS role FROM pg_roles
    WHERE rolname = ANY ($1) AND pg_has_role(session_user, oid, 'USAGE')
      AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)`,
};

export const databaseChecks: readonly Check[] = [
  // Whether PostgreSQL answers, is new enough, is writable and has the right time; and whether an indexer leads.
  table({
    title: 'database',
    needs: ['DATABASE_URL'],
    read: readServer,
    rows: [
      { title: 'database', ask: serverAnswer },
      {
        title: 'database: clock',
        ask: clockAnswer,
        remedy: 'Let both machines follow a time server (NTP).',
      },
      {
        title: 'indexer',
        ask: ({ isLed }) =>
          isLed ? ok('one holds the lead') : warning('none holds the lead: nothing is indexed now'),
        remedy: 'Start the indexer.',
      },
    ],
  }),
  // What an administrator has set for the sessions of the programs.
  check({
    title: 'database: settings',
    needs: ['DATABASE_URL', 'database'],
    ask: async (subject) => settingsAnswers(await readForeignSettings(await subject.database())),
  }),
  // Whether the applied migrations are exactly those of this program.
  check({ title: 'schema', needs: ['DATABASE_URL', 'database'], ask: schemaAnswers }),
  // Whether the user of DATABASE_URL has exactly the rights that its program needs.
  check({
    title: 'database rights',
    needs: SCHEMA,
    ask: async (subject) => {
      try {
        return await rightsAnswer(subject);
      } catch (error) {
        if (!(error instanceof LowmarkError)) throw error;
        return fault(error.message, 'Run `npm run migrate`.');
      }
    },
  }),
];

async function readServer(subject: Subject): Promise<Server> {
  const { place: where } = DatabaseUrl.parse(sessionUrl(subject.settings) ?? '');
  try {
    const database = await subject.database();
    const beforeMs = subject.clock.nowMs();
    const facts = await readServerFacts(database, subject.settings.stakeSet);
    const afterMs = subject.clock.nowMs();
    return { ...facts, where, aheadMs: facts.nowMs - (beforeMs + afterMs) / 2 };
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    throw new CheckEnded(
      fault(
        `${where}: ${error.message}`,
        'Start PostgreSQL, or correct DATABASE_URL: host, port, name, user and password.',
      ),
    );
  }
}

function serverAnswer({ where, version, isStandby }: Server): Answer {
  const name = `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000} at ${where}`;
  if (version < OLDEST_VERSION) {
    return fault(`${name} is too old`, 'Upgrade it to PostgreSQL 15 or newer.');
  }
  return isStandby
    ? warning(`${name} is a standby, which only reads`, 'Let DATABASE_URL name the primary server.')
    : ok(name);
}

function clockAnswer({ aheadMs }: Server): Answer {
  const seconds = Math.abs(aheadMs) / 1000;
  const found = `${seconds.toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine`;
  if (seconds >= WRONG_SECONDS) return fault(found);
  return seconds >= NOTABLE_SECONDS ? warning(found) : ok('the same time as this machine');
}

/** What goes wrong with a setting, and what to do; undefined for a value that does no harm. */
const HARMS: Readonly<
  Record<string, (value: string) => readonly [harm: string, remedy: string] | undefined>
> = {
  default_transaction_read_only: (value) =>
    isOn(value)
      ? ['nothing can be written', 'Make room on the disk if the provider set it, then reset it.']
      : undefined,
  session_replication_role: (value) =>
    value === 'origin'
      ? undefined
      : ['the triggers that guard the ledger do not run', 'Reset it at once.'],
  synchronous_commit: (value) =>
    value === 'off'
      ? [
          'a crash of the server may lose redemptions',
          'Set it to on, except for the indexer’s user.',
        ]
      : undefined,
  transaction_timeout: (value) =>
    value === '0'
      ? undefined
      : [
          'longer transactions are ended: migrations, audits',
          'Reset it for the users of the programs.',
        ],
};

function isOn(value: string): boolean {
  return ['on', 'true', 'yes', '1'].includes(value.toLowerCase());
}

function settingsAnswers(settings: readonly ForeignSetting[]): Answer | readonly Answer[] {
  const named = settings.map(({ name, value, of }) => `${name}=${value} (${of})`);
  const harms = settings.flatMap(({ name, value, of }) => {
    const found = HARMS[name]?.(value);
    return found === undefined ? [] : [warning(`${name}=${value} (${of}): ${found[0]}`, found[1])];
  });
  if (harms.length > 0) return harms;
  return ok(named.length === 0 ? 'none besides those of the programs' : named.join(', '));
}

async function schemaAnswers(subject: Subject): Promise<Answer | readonly Answer[]> {
  const { unknown, accepted, missing } = await readSchema(await subject.database());
  if (unknown.length + missing.length === 0) return ok('up to date');
  const newer = `a newer program migrated it: ${unknown.join(', ')}`;
  const isAccepted = accepted.length === unknown.length;
  return [
    ...(unknown.length === 0
      ? []
      : [
          isAccepted
            ? warning(
                `${newer}; this one was let start all the same`,
                'Go on to the newer version when what was wrong with it is mended. See docs/operating/upgrade.md.',
              )
            : fault(
                newer,
                'Start the version of the services that knows these migrations; for the way back see docs/operating/upgrade.md.',
              ),
        ]),
    ...(missing.length === 0
      ? []
      : [fault(`not applied: ${missing.join(', ')}`, 'Run `npm run migrate`.')]),
  ];
}

async function rightsAnswer(subject: Subject): Promise<Answer> {
  const database = await subject.database();
  const roles = await database.query<{ role: string }>(MEMBER, [Object.values(PROGRAM_ROLES)]);
  const known = PROGRAMS.find((one) => roles.some(({ role }) => role === PROGRAM_ROLES[one]));
  const program: Program = known ?? 'cli';
  const excess = await excessRights(database, program);
  if (excess.length > 0) {
    return fault(
      excess.join('; '),
      'Give each program a user of its own: docs/operating/install.md#database-users. `npm run migrate` makes them.',
    );
  }
  if (known === undefined) {
    return fault(
      'The user of DATABASE_URL has the rights of no program',
      'Run `npm run migrate` with the URLs of the programs: docs/operating/install.md#database-users.',
    );
  }
  const missing = await missingRights(database, program);
  return missing.length > 0
    ? fault(
        `the ${program} lacks ${missing.join('; ')}`,
        'Run `npm run migrate`: it gives each program its rights.',
      )
    : ok(`those of the ${program} (${PROGRAM_ROLES[program]}) and no more`);
}
