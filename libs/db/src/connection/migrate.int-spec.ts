import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { migrate } from '../index.js';
import { SCHEMAS } from '../roles/rights.js';

const run = promisify(execFile);
const ALL = [
  'StakingIndex1760000000000',
  'Partners1760000000001',
  'ReaderRole1760000000002',
  'Redemption1760000000003',
  'RedemptionDue1760000000004',
  'Sessions1760000000005',
  'Reconciliation1760000000006',
  'IndexGeneration1760000000007',
  'ReaderSeesSchema1760000000008',
  'CredentialUse1760000000009',
  'AuditRun1760000000010',
  'RestoredLedger1760000000011',
  'OlderStart1760000000012',
  'CoinSpent1760000000013',
  'ClaimWatch1760000000014',
  'PriceHold1760000000015',
  'EvidenceMac1760000000017',
  'ReservedTokens1760000000019',
  'BoundedAttempts1760000000020',
  'SessionMac1760000000021',
  'NamesMac1760000000022',
  'SealedLedger1760000000023',
  'RestoreMark1760000000024',
  'StakeSets1760000000025',
  'Console1760000000026',
  'RequestLog1760000000027',
  'Portal1760000000028',
  'CredentialEnd1760000000032',
  'SealedDays1760000000033',
  'SearchIndexes1760000000038',
  'ConformanceDeductions1760000000039',
  'Webhooks1760000000040',
  'RegistryPublications1760000000041',
  'Reasons1760000000042',
  'LastDelivery1760000000043',
  'Partitions1760000000044',
  'CallLogShares1760000004000',
  'GrantedRoles1760000005000',
  'MemberLimits1760000005001',
  'UnnotedRestore1760000006000',
  'DayTotals1760000007000',
  'Corrections1760000007001',
  'TaskLease1760000007003',
  'IndexRepair1760000007011',
  'AuditSums1760000007900',
];

/** Runs the migration in another process, from the compiled program. */
async function migrateElsewhere(url: string): Promise<string[]> {
  const program = `
    const { migrate } = await import('#libs/db');
    console.log(JSON.stringify(await migrate(process.argv[1])));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program, url]);
  return JSON.parse(stdout) as string[];
}

describe('migrate', () => {
  let databases: TestDatabase[];

  beforeAll(async () => {
    databases = await Promise.all([createTestDatabase('empty'), createTestDatabase('empty')]);
  });
  afterAll(() => Promise.all(databases.map((database) => database.drop())));

  it('is applied once by processes that start together, also on two databases of one server', async () => {
    const urls = databases.map(({ url }) => url);
    const answers = await Promise.all(
      [...urls, ...urls].map(async (url) => ({ url, applied: await migrateElsewhere(url) })),
    );
    for (const url of urls) {
      const applied = answers.filter((answer) => answer.url === url).map((one) => one.applied);
      expect(applied.sort((a, b) => b.length - a.length)).toEqual([ALL, []]);
    }
  });

  it('does nothing the second time', async () => {
    expect(await migrate(databases[0]?.url ?? '')).toEqual([]);
  });

  it('can be undone and done again', async () => {
    const [database] = databases;
    const opened = await database?.open();
    for (let undone = 0; undone < ALL.length; undone += 1) {
      await opened?.dataSource.undoLastMigration();
    }
    expect(await migrate(database?.url ?? '')).toEqual(ALL);
  });

  it('tells an owner without the right to the reading role what an administrator has to do', async () => {
    const [database] = databases;
    const admin = await database?.open();
    const user = `owner_${randomBytes(4).toString('hex')}`;
    const url = new URL(database?.url ?? '');
    const name = url.pathname.slice(1);
    for (const schema of SCHEMAS) {
      await admin?.query({ text: `DROP SCHEMA IF EXISTS ${schema} CASCADE` });
    }
    await admin?.query({ text: `CREATE ROLE ${user} LOGIN PASSWORD 'x'` });
    await admin?.query({ text: `GRANT ALL ON DATABASE ${name} TO ${user}` });
    [url.username, url.password] = [user, 'x'];
    await expect(migrate(url.href)).rejects.toThrow(
      `let an administrator run GRANT lowmark_reader TO ${user}`,
    );
    await admin?.query({ text: `GRANT lowmark_reader TO ${user}` });
    expect(await migrate(url.href)).toEqual(ALL);
    const reader = await database?.open({ url: url.href, readOnly: true });
    const read = {
      text: 'SELECT current_user::text AS role, count(*)::int AS rows FROM staking.price',
    };
    expect(await reader?.query(read)).toEqual([{ role: 'lowmark_reader', rows: 0 }]);
    await admin?.query({ text: `DROP OWNED BY ${user}` });
    await admin?.query({ text: `DROP ROLE ${user}` });
  });
});
