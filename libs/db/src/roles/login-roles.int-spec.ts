import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type TestDatabase } from '#libs/testing/database';
import {
  createDatabase,
  type Database,
  excessRights,
  migrate,
  prepareLogins,
  PROGRAM_ROLES,
  PROGRAMS,
  type Program,
} from '../index.js';
import { ExcessRightsError, requireOwnRights } from './held-rights.js';
import { Logins } from './logins.support.js';

let logins: Logins;
let test: TestDatabase;
let owner: Database;
let suffix: string;
let made: string[];

async function start(from?: 'empty'): Promise<void> {
  logins = await Logins.start(from);
  ({ test, owner, suffix, made } = logins);
}
beforeAll(() => start());
afterEach(() => logins.removeUsers());
afterAll(() => logins.stop());

const urlAs = (user: string) => logins.urlAs(user);
const loginUrls = (password?: string) => logins.urls(password);

async function rightsOf(program: Program, url: string): Promise<string[]> {
  const database = await createDatabase({ url, applicationName: 'test', poolSize: 1 });
  try {
    return await excessRights(database, program);
  } finally {
    await database.close();
  }
}

describe('prepareLogins', () => {
  it('makes a user for each program who can log in and do no more than it needs; again changes nothing', async () => {
    const urls = loginUrls();
    expect(await logins.prepare(...PROGRAMS)).toEqual(made);
    const passwords = () =>
      owner.query({
        text: `SELECT rolname, rolpassword FROM pg_authid WHERE rolname LIKE '%${suffix}' ORDER BY 1`,
      });
    const before = await passwords();
    expect(JSON.stringify(before)).not.toContain('p api_');
    await prepareLogins(test.url, urls);
    expect(await passwords()).toEqual(before);
    for (const program of PROGRAMS) expect(await rightsOf(program, urls[program])).toEqual([]);
  });

  it('gives a user the password of its URL where that was replaced', async () => {
    await logins.prepare('api');
    const { api } = loginUrls('another one');
    await prepareLogins(test.url, { api });
    expect(await rightsOf('api', api)).toEqual([]);
    await expect(rightsOf('api', loginUrls().api)).rejects.toMatchObject({ sqlState: '28P01' });
  });

  it.each([
    ['a table', 'ALL'],
    ['a column', 'INSERT (wallet)'],
  ])('takes rights on %s that were given by hand', async (_what, rights) => {
    await owner.query({ text: `GRANT ${rights} ON redemption.redemption TO ${PROGRAM_ROLES.api}` });
    expect(await rightsOf('api', test.urlAs('api'))).toEqual([
      expect.stringContaining('on redemption.redemption'),
    ]);
    await migrate(test.url);
    expect(await rightsOf('api', test.urlAs('api'))).toEqual([]);
  });

  it('refuses the owner, a superuser and one user for two programs', async () => {
    await expect(prepareLogins(test.url, { api: test.url })).rejects.toThrow('is a superuser');
    const { api } = loginUrls();
    await expect(prepareLogins(test.url, { api, cli: api })).rejects.toMatchObject({
      code: 'LOGIN_URL_SHARED',
    });
  });

  it('leaves the portal few connections, or as many as an administrator says', async () => {
    const { portal } = loginUrls();
    await logins.prepare('portal');
    const opened = Array.from({ length: 21 }, () => new Client({ connectionString: portal }));
    try {
      for (const client of opened.slice(0, 20)) await client.connect();
      await expect(opened[20]?.connect()).rejects.toMatchObject({ code: '53300' });
    } finally {
      for (const client of opened.slice(0, 20)) await client.end();
    }
    await owner.query({ text: `ALTER ROLE portal_${suffix} CONNECTION LIMIT 7` });
    await logins.prepare('portal');
    const limit = { text: `SELECT rolconnlimit FROM pg_roles WHERE rolname = 'portal_${suffix}'` };
    expect(await owner.query(limit)).toEqual([{ rolconnlimit: 7 }]);
  });

  it('leaves no program temporary tables', async () => {
    await logins.prepare(...PROGRAMS);
    for (const url of Object.values(loginUrls())) {
      const database = await createDatabase({ url, applicationName: 'test', poolSize: 1 });
      try {
        const temporary = database.query({ text: 'CREATE TEMPORARY TABLE mine (a int)' });
        await expect(temporary).rejects.toMatchObject({ sqlState: '42501' });
      } finally {
        await database.close();
      }
    }
  });
});

describe('a URL that is not that of its program', () => {
  const membersOf = (user: string) =>
    owner.query<{ role: string }>(
      {
        text: `SELECT g.rolname AS role FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
          JOIN pg_roles u ON u.oid = m.member WHERE u.rolname = $1 ORDER BY 1`,
      },
      [user],
    );

  it('names another program’s user: it is refused and given nothing, and the right one goes on', async () => {
    const { cli } = loginUrls();
    await logins.prepare('cli');
    const wrong = prepareLogins(test.url, { api: cli });
    await expect(wrong).rejects.toMatchObject({
      code: 'DATABASE_RIGHTS_EXCESSIVE',
      message: expect.stringContaining(`cli_${suffix} is a member of lowmark_operator`),
    });
    expect(await membersOf(`cli_${suffix}`)).toEqual([{ role: PROGRAM_ROLES.cli }]);
    await logins.prepare('api', 'cli');
    expect(await rightsOf('cli', cli)).toEqual([]);
  });

  it('is taken what it was given besides', async () => {
    await logins.prepare('cli');
    await owner.query({ text: `GRANT ${PROGRAM_ROLES.api} TO cli_${suffix}` });
    await logins.prepare('cli');
    expect(await membersOf(`cli_${suffix}`)).toEqual([{ role: PROGRAM_ROLES.cli }]);
  });

  it('leaves no user behind where one of several is refused', async () => {
    const { api, indexer } = loginUrls();
    await logins.prepare('api');
    await expect(prepareLogins(test.url, { indexer, cli: api })).rejects.toThrow('lowmark_reader');
    const text = `SELECT rolname FROM pg_roles WHERE rolname = 'indexer_${suffix}'`;
    expect(await owner.query({ text })).toEqual([]);
    expect(indexer).toContain(`indexer_${suffix}`);
  });

  it('names a role that holds rights, or another database', async () => {
    const group = { api: urlAs(PROGRAM_ROLES.cli) };
    await expect(prepareLogins(test.url, group)).rejects.toMatchObject({ code: 'LOGIN_URL_GROUP' });
    const other = new URL(loginUrls().api);
    other.pathname = '/postgres';
    await expect(prepareLogins(test.url, { api: other.href })).rejects.toMatchObject({
      code: 'LOGIN_URL_DATABASE',
    });
  });
});

describe('requireOwnRights', () => {
  const excess: string[] = [];
  const onExcess = (message: string) => void excess.push(message);

  it.each(PROGRAMS)(
    'refuses the owner to %s in production, and says so elsewhere',
    async (program) => {
      await expect(
        requireOwnRights(owner, program, { isProduction: true, onExcess }),
      ).rejects.toBeInstanceOf(ExcessRightsError);
      await requireOwnRights(owner, program, { isProduction: false, onExcess });
      expect(excess.at(-1)).toMatch(/is a superuser.*docs\/operating\/install\.md#database-users/);
    },
  );

  it('sees through a role that the session took', async () => {
    const reader = await test.open({ readOnly: true });
    await expect(requireOwnRights(reader, 'api', { isProduction: true, onExcess })).rejects.toThrow(
      'is a superuser',
    );
  });

  it.each([
    ['owns', 'CREATE TABLE staking.mine (a int); ALTER TABLE staking.mine OWNER TO USER', 'owns'],
    ['is a member of the owner', 'GRANT lowmark TO USER', 'is a member of the owner lowmark'],
    ['may make roles', 'ALTER ROLE USER CREATEROLE', 'CREATEROLE'],
    ['has a right on another table', 'GRANT SELECT ON redemption.session TO USER', 'on redemption'],
    ['has a right on a column', 'GRANT UPDATE (rate) ON partners.partner TO USER', 'UPDATE on'],
    [
      'may disable triggers',
      'GRANT SET ON PARAMETER session_replication_role TO USER',
      'replication',
    ],
    ['may make tables', 'GRANT CREATE ON SCHEMA staking TO USER', 'CREATE on schema staking'],
    ['has another program’s rights', `GRANT ${PROGRAM_ROLES.cli} TO USER`, 'lowmark_operator'],
    ['may truncate', 'GRANT TRUNCATE ON staking.price TO USER', 'TRUNCATE on staking.price'],
  ])('finds a user who %s', async (_, grant, expected) => {
    const { api } = loginUrls();
    await logins.prepare('api');
    for (const text of grant.replaceAll('USER', `api_${suffix}`).split('; ')) {
      await owner.query({ text });
    }
    expect((await rightsOf('api', api)).join('\n')).toMatch(new RegExp(expected));
  });
});

describe('an owner of the database who is no superuser', () => {
  let user: string;
  beforeEach(async () => {
    await logins.stop();
    await start('empty');
    user = `owner_${suffix}`;
  });
  afterEach(async () => {
    await owner.query({ text: `ALTER DATABASE ${test.name} OWNER TO CURRENT_USER` });
    made.push(user, ...PROGRAMS.map((program) => logins.userOf(program)));
  });
  afterAll(async () => {
    await logins.stop();
    await start();
  });

  /** Like the users that managed services provide. */
  async function anOwner(attributes: string): Promise<void> {
    await owner.query({ text: `CREATE ROLE ${user} LOGIN ${attributes} PASSWORD 'p ${user}/@'` });
    await owner.query({ text: `ALTER DATABASE ${test.name} OWNER TO ${user}` });
    await owner.query({ text: `GRANT lowmark_reader TO ${user}` });
  }

  it('prepares the logins where it may make roles', async () => {
    await anOwner('CREATEROLE');
    // Where the roles exist, an administrator has given this user the right to grant them.
    for (const role of Object.values(PROGRAM_ROLES)) {
      await owner.query({ text: `GRANT ${role} TO ${user} WITH ADMIN OPTION` });
    }
    await migrate(urlAs(user));
    const urls = loginUrls();
    await prepareLogins(urlAs(user), urls);
    for (const program of PROGRAMS) expect(await rightsOf(program, urls[program])).toEqual([]);

    // Connects as if through a pooler: a session begins with the defaults of its user only.
    const pooled = async (program: 'api' | 'redemption'): Promise<void> => {
      const [url, readOnly] = [urls[program], program === 'api'];
      const options = { url, isPooled: true, readOnly, applicationName: 'test' };
      await (await createDatabase(options)).close();
    };
    await expect(pooled('api')).rejects.toMatchObject({ code: 'SESSION_DEFAULTS_MISSING' });
    await prepareLogins(urlAs(user), urls, { isPooled: true });
    await pooled('api');
    await pooled('redemption');
  });

  it('is told what an administrator has to run where it may make no roles, and goes on from there', async () => {
    await anOwner('');
    await migrate(urlAs(user));
    const urls = loginUrls();
    await expect(prepareLogins(urlAs(user), urls)).rejects.toMatchObject({
      code: 'ROLES_REFUSED',
      message: expect.stringContaining(`CREATE ROLE "api_${suffix}" LOGIN IN ROLE lowmark_reader;`),
    });
    for (const program of PROGRAMS) {
      const name = `${program}_${suffix}`;
      const [role, password] = [PROGRAM_ROLES[program], `'p ${name}/@'`];
      await owner.query({
        text: `CREATE ROLE ${name} LOGIN IN ROLE ${role} PASSWORD ${password}`,
      });
    }
    await prepareLogins(urlAs(user), urls);
    for (const program of PROGRAMS) expect(await rightsOf(program, urls[program])).toEqual([]);

    const isPooled = true;
    const refused: unknown = await prepareLogins(urlAs(user), urls, { isPooled }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'ROLES_REFUSED' });
    const statements = (refused as Error).message.match(/ALTER ROLE [^;]+;/g) ?? [];
    for (const text of statements) await owner.query({ text });
    await prepareLogins(urlAs(user), urls, { isPooled });
  });
});

/**
 * The rights that a program of this version has where a newer version has migrated, and the effect of this version's
 * `migrate` there.
 */
describe('on the schema of a newer version', () => {
  const NAME = 'Tomorrow9000000000000';
  /** Each new table is granted to the programs that use it. The reading role gets new tables of `staking` by itself. */
  const NEWER = [
    'CREATE TABLE staking.tomorrow (at timestamptz)',
    'CREATE TABLE redemption.tomorrow (at timestamptz)',
    `GRANT SELECT, INSERT, DELETE ON staking.tomorrow, redemption.tomorrow TO ${Object.values(PROGRAM_ROLES).join(', ')}`,
    'CREATE VIEW portal.tomorrow AS SELECT 1 AS one',
    'GRANT SELECT ON portal.tomorrow TO lowmark_portal',
  ];

  beforeAll(async () => {
    for (const text of NEWER) await owner.query({ text });
  });
  afterEach(async () => {
    await owner.query({ text: 'DELETE FROM lowmark.migration WHERE name = $1' }, [NAME]);
  });

  /** Does the same as the newer version's `migrate`, followed by its `migrate --let-older-start`. */
  async function migrateByNewer(): Promise<void> {
    const text =
      'INSERT INTO lowmark.migration (timestamp, name, older_may_start) VALUES (9000000000000, $1, true)';
    await owner.query({ text }, [NAME]);
  }

  const inProduction = { isProduction: true, onExcess: () => undefined };

  it.each(PROGRAMS.filter((program) => program !== 'portal'))(
    'the %s starts in production with rights on tables that it does not know',
    async (program) => {
      const own = await test.open({ url: test.urlAs(program), poolSize: 1 });
      await expect(requireOwnRights(own, program, inProduction)).rejects.toThrow(
        'on staking.tomorrow',
      );
      await migrateByNewer();
      await requireOwnRights(own, program, inProduction);
      expect(await excessRights(own, program)).toEqual([]);
    },
  );

  it('migrate makes users, takes what is too much on known tables, and leaves the others', async () => {
    await migrateByNewer();
    await owner.query({ text: 'GRANT SELECT ON redemption.session TO lowmark_reader' });
    const own = await test.open({ url: test.urlAs('api'), poolSize: 1 });
    const refused = requireOwnRights(own, 'api', inProduction);
    await expect(refused).rejects.toBeInstanceOf(ExcessRightsError);
    expect(await excessRights(own, 'api')).toEqual(['SELECT on redemption.session']);
    expect(await migrate(test.url)).toEqual([]);
    expect(await logins.prepare(...PROGRAMS)).toEqual(made);
    const may = async (program: Program, table: string, privilege: string) => {
      const text = 'SELECT has_table_privilege($1, $2, $3) AS may';
      const asked = [logins.userOf(program), table, privilege];
      return (await owner.query<{ may: boolean }>({ text }, asked))[0]?.may;
    };
    expect(await may('api', 'redemption.session', 'SELECT')).toBe(false);
    expect(await may('api', 'staking.tomorrow', 'DELETE')).toBe(true);
    expect(await may('portal', 'portal.tomorrow', 'SELECT')).toBe(true);
  });
});
