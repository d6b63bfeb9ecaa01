/** Creates the database users of the programs and sets their passwords, from the URLs that the programs will get. */
import { type PoolClient } from 'pg';
import { PermanentError } from '#libs/domain';
import { DatabaseUrl } from '#libs/platform';
import { CheckedClient } from '../connection/checked-client.js';
import { connectionOptions } from '../connection/connection-options.js';
import { databaseError, isRefusal, LoginRefusedError } from '../connection/database.error.js';
import { createDatabase } from '../migrations/create-database.js';
import { underMigrationLock } from '../migrations/migration-lock.js';
import { named } from '../connection/named.js';
import { isNewerSchema } from '../migrations/schema-check.js';
import {
  differentSettings,
  PORTAL_SESSION,
  sessionSettings,
  type SessionSettings,
} from '../connection/session-settings.js';
import { grantRights } from './grant-rights.js';
import { ExcessRightsError, excessRightsOf } from './held-rights.js';
import { type Program, PROGRAM_ROLES, PROGRAMS } from './rights.js';
import { scramVerifier } from './scram-verifier.js';

/** DATABASE_URL of each program. */
export type LoginUrls = Readonly<Partial<Record<Program, string>>>;

/** The user that migrates may not create roles, so an administrator has to run statements. */
export class RolesRefusedError extends PermanentError {
  constructor(statements: readonly string[], cause?: unknown) {
    super(
      'ROLES_REFUSED',
      'The user that migrates may not make the programs’ roles. The schema is up to date. Let an administrator run, and then migrate again: ' +
        `${fitting(statements)} See docs/operating/install.md#database-users.`,
      { cause },
    );
  }
}

/** Of the 2000 characters of an error. */
const MOST_CHARACTERS = 1800;

/** As many whole statements as fit; the next migration names the others. */
function fitting(statements: readonly string[]): string {
  let text = '';
  for (const statement of statements) {
    if (text.length + statement.length > MOST_CHARACTERS)
      return `${text.trim()} (and more after these)`;
    text += `${statement}; `;
  }
  return text.trim();
}

const USER = named<{ user: string; role: string; roles: readonly string[] }>(
  'login_role',
  `SELECT r.rolsuper AS superuser, pg_has_role(r.oid, :role, 'USAGE') AS member, r.rolname = session_user AS mine,
      ARRAY(SELECT json_build_object('role', g.rolname, 'grantor', pg_get_userbyid(m.grantor)) FROM pg_auth_members m
        JOIN pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid AND g.rolname = ANY (:roles) AND g.rolname <> :role) AS "otherProgramRoles"
    FROM pg_roles r WHERE r.rolname = :user`,
);

interface LoginOptions {
  /** The programs connect through a pooler, whose sessions begin with the defaults of their user. */
  readonly isPooled?: boolean;
}

/** Session settings of the programs whose pools go through a pooler; see `createDatabase`. */
const POOLED: Partial<Record<Program, SessionSettings>> = {
  api: sessionSettings({ readOnly: true }),
  redemption: sessionSettings({}),
  console: sessionSettings({}),
  portal: sessionSettings(PORTAL_SESSION),
};

/**
 * Connection limit of the portal's user: five consoles with a pool of four each. The other users need as many
 * connections as they have replicas, so an administrator limits them.
 */
const PORTAL_CONNECTIONS = 20;

const UNLIMITED = named<{ user: string }>(
  'login_unlimited',
  'SELECT FROM pg_roles WHERE rolname = :user AND rolconnlimit = -1',
);

interface LoginRole {
  readonly superuser: boolean;
  readonly member: boolean;
  readonly mine: boolean;
  /** Roles of other programs that the user has, with the grantor of each. */
  readonly otherProgramRoles: { readonly role: string; readonly grantor: string }[];
}

interface Login {
  readonly program: Program;
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/**
 * Creates each user of the URLs where it is missing, sets the password of the URL where the user has another one, and
 * grants the rights of the program. Refuses a user with more rights. Safe to run again.
 * @param url of the user that migrates, who owns the schema and may create roles; not a pooler's URL
 * @returns the names of the users
 * @throws RolesRefusedError, ExcessRightsError, and what `requireLoginUrls` and `migrate` throw
 */
export async function prepareLogins(
  url: string,
  urls: LoginUrls,
  { isPooled = false }: LoginOptions = {},
): Promise<string[]> {
  const logins = requireLoginUrls(url, urls).map((login) => {
    return isPooled ? { ...login, url: DatabaseUrl.parse(url).as(login).href } : login;
  });
  await underMigrationLock(url, async (database) => {
    const missing = await grantRights(database);
    const isNewer = await isNewerSchema(database);
    // A program without a URL is not used in this installation.
    if (logins.some(({ program }) => missing.includes(PROGRAM_ROLES[program]))) {
      throw new RolesRefusedError(manualStatements(logins));
    }
    const letIn = new Set<string>();
    for (const login of logins) {
      if (await isRightPassword(login)) letIn.add(login.user);
    }
    // All users are prepared in one transaction, so that a user who is refused has been given nothing.
    await database.transaction(async (client) => {
      for (const login of logins) {
        await prepareLogin(client, login, { isLetIn: letIn.has(login.user), isNewer });
      }
      const portal = logins.find(({ program }) => program === 'portal');
      if (portal !== undefined) await limitConnections(client, portal);
    });
    if (isPooled) await database.transaction((client) => setSessionDefaults(client, logins));
  });
  return logins.map(({ user }) => user);
}

/**
 * Checks the URLs before anything is changed.
 * @throws PermanentError LOGIN_URL_INCOMPLETE, LOGIN_URL_SHARED, LOGIN_URL_GROUP, LOGIN_URL_DATABASE
 */
export function requireLoginUrls(url: string, urls: LoginUrls): Login[] {
  const logins = PROGRAMS.flatMap((program) => {
    const given = urls[program];
    return given === undefined ? [] : [loginOf(program, given)];
  });
  requireDifferentUsers(logins);
  for (const login of logins) requireOwnPlace(login, url);
  return logins;
}

/**
 * Statements for an administrator, where the user that migrates may not run them. \password of psql sets the passwords.
 */
function manualStatements(logins: readonly Login[]): string[] {
  return [
    ...logins.map(({ program }) => `CREATE ROLE ${PROGRAM_ROLES[program]} NOLOGIN`),
    ...logins.map(({ program, user }) => {
      return `CREATE ROLE ${quoted(user)} LOGIN IN ROLE ${PROGRAM_ROLES[program]}`;
    }),
  ];
}

async function prepareLogin(
  client: PoolClient,
  login: Login,
  { isLetIn, isNewer }: { readonly isLetIn: boolean; readonly isNewer: boolean },
): Promise<void> {
  const { program, user, password } = login;
  const role = PROGRAM_ROLES[program];
  const roles = Object.values(PROGRAM_ROLES);
  const [known] = (await client.query<LoginRole>(USER({ user, role, roles }))).rows;
  if (known?.superuser === true || known?.mine === true) {
    const what = known.superuser ? 'is a superuser' : 'is the user that migrates';
    throw new ExcessRightsError(program, [`${user} ${what}`]);
  }
  const isMember = known?.member === true;
  // An existing user that has this program's role loses those of other programs. A user that has only another program's
  // role belongs to that program and is refused below.
  const revokes = (isMember ? known.otherProgramRoles : []).map((one) => {
    return `REVOKE ${one.role} FROM ${quoted(user)} GRANTED BY ${quoted(one.grantor)}`;
  });
  const verb = known === undefined ? 'CREATE' : 'ALTER';
  const statements = [
    ...(isLetIn && known !== undefined
      ? []
      : [`${verb} ROLE ${quoted(user)} LOGIN PASSWORD '${scramVerifier(password)}'`]),
    ...(isMember ? [] : [`GRANT ${role} TO ${quoted(user)}`]),
    ...revokes,
  ];
  const manual = [...manualStatements([login]), ...revokes];
  for (const text of statements) await execute(client, text, manual);
  const excess = await excessRightsOf(client, program, { user, isNewer });
  if (excess.length > 0) throw new ExcessRightsError(program, excess);
}

/** @throws RolesRefusedError with statements for an administrator, where this user may not run the statement */
async function execute(client: PoolClient, text: string, manual: readonly string[]): Promise<void> {
  await client.query(text).catch((cause: unknown) => {
    const error = databaseError(cause);
    if (!isRefusal(error, 'insufficient_privilege')) throw error;
    throw new RolesRefusedError(manual, error);
  });
}

/**
 * Makes the programs' settings the defaults with which sessions of their users begin, as far as the users do not have
 * them, from the database or from an administrator.
 */
async function setSessionDefaults(client: PoolClient, logins: readonly Login[]): Promise<void> {
  const statements: string[] = [];
  for (const { program, user, url } of logins) {
    const database = quoted(DatabaseUrl.parse(url).database);
    for (const { name, wanted } of await missingDefaults(url, POOLED[program] ?? {})) {
      statements.push(
        `ALTER ROLE ${quoted(user)} IN DATABASE ${database} SET ${name} = '${wanted}'`,
      );
    }
  }
  for (const text of statements) await execute(client, text, statements);
}

/** Logs in as the user, without settings of the session. */
async function missingDefaults(url: string, settings: SessionSettings) {
  const options = { url, applicationName: 'lowmark migrate', isPooled: true };
  const client = new CheckedClient(connectionOptions(options));
  try {
    await client.connect();
    const session = {
      query: async <R extends object>({ text }: { text: string }, values: readonly unknown[]) => {
        const { rows } = (await client.query(text, [...values])) as { rows: R[] };
        return rows;
      },
    };
    return await differentSettings(session, settings);
  } catch (error) {
    throw databaseError(error);
  } finally {
    await client.end();
  }
}

/** Sets the limit where there is none yet and where this user may. An administrator's limit stays. */
async function limitConnections(client: PoolClient, { user }: Login): Promise<void> {
  if ((await client.query(UNLIMITED({ user }))).rows.length === 0) return;
  await client.query('SAVEPOINT unlimited');
  try {
    await client.query(`ALTER ROLE ${quoted(user)} CONNECTION LIMIT ${PORTAL_CONNECTIONS}`);
  } catch (cause) {
    const error = databaseError(cause);
    if (!isRefusal(error, 'insufficient_privilege')) throw error;
    await client.query('ROLLBACK TO SAVEPOINT unlimited');
  }
}

async function isRightPassword({ url }: Login): Promise<boolean> {
  const options = { url, applicationName: 'lowmark migrate', poolSize: 1, schema: 'any' } as const;
  try {
    await (await createDatabase(options)).close();
    return true;
  } catch (error) {
    if (error instanceof LoginRefusedError) return false;
    throw error;
  }
}

function loginOf(program: Program, url: string): Login {
  const { user, password } = DatabaseUrl.parse(url);
  if (user === '' || password === '') {
    throw new PermanentError(
      'LOGIN_URL_INCOMPLETE',
      `${program.toUpperCase()}_DATABASE_URL must name a user and its password.`,
    );
  }
  return { program, url, user, password };
}

function requireDifferentUsers(logins: readonly Login[]): void {
  const users = logins.map(({ user }) => user);
  if (new Set(users).size === users.length) return;
  throw new PermanentError(
    'LOGIN_URL_SHARED',
    'Each program needs a user of its own: two of the URLs name the same one.',
  );
}

/**
 * Checks that the URL names a user that can log in, and the database that is migrated. A role in PROGRAM_ROLES holds
 * rights and does not log in.
 */
function requireOwnPlace({ program, user, url }: Login, migrating: string): void {
  const variable = `${program.toUpperCase()}_DATABASE_URL`;
  if (Object.values<string>(PROGRAM_ROLES).includes(user)) {
    throw new PermanentError(
      'LOGIN_URL_GROUP',
      `${variable} names ${user}, which holds the rights of a program and is no user: name a user of its own.`,
    );
  }
  const [own, migrated] = [url, migrating].map((one) => DatabaseUrl.parse(one).database);
  if (own !== migrated) {
    throw new PermanentError(
      'LOGIN_URL_DATABASE',
      `${variable} names the database ${own}, and DATABASE_URL names ${migrated}: a program uses the database that is migrated.`,
    );
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
