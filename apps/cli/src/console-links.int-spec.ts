import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { InvitationStore, SignInLinkStore } from '#libs/db';
import { hashToken } from '#libs/signing';
import { CliBench } from './testing/cli-bench.support-spec.js';

let bench: CliBench;
beforeAll(async () => {
  bench = await CliBench.start();
  await bench.run('partner', 'create', '--name', 'Acme');
});
afterAll(() => bench.drop());

function hashOf(url: string): Buffer {
  return hashToken(new URL(url).hash.slice(1)) as Buffer;
}

async function auditRows(command: string): Promise<string> {
  const rows = await bench.database.query({
    text: `SELECT to_jsonb(a)::text AS row FROM redemption.audit a WHERE to_jsonb(a)::text LIKE '%' || $1 || '%'`,
    values: [command],
  });
  return JSON.stringify(rows);
}

describe('console link', () => {
  it('prints a link that signs in, which neither the audit nor the database has', async () => {
    const { code, out } = await bench.run('console', 'link', '--role', 'admin', '--json');
    expect(code).toBe(0);
    const { url } = JSON.parse(out) as { url: string };
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:3003\/sign-in\/link#svct_[\w-]{43}$/);
    const used = await new SignInLinkStore(bench.database).use(hashOf(url), Date.now());
    expect(used).toMatchObject({
      subject: 'link:cli',
      standing: { kind: 'operator', role: 'admin' },
    });
    const rows = await auditRows('console link');
    expect(rows).toContain('admin');
    expect(rows).not.toContain(new URL(url).hash.slice(1));
  });

  it('is for this machine only, unless that is said', async () => {
    bench.settings['CONSOLE_ORIGIN'] = 'https://console.example.com';
    const refused = await bench.run('console', 'link', '--role', 'viewer');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('--remote');
    const { code, out } = await bench.run('console', 'link', '--role', 'viewer', '--remote');
    expect(code).toBe(0);
    expect(out).toMatch(/^https:\/\/console\.example\.com\/sign-in\/link#/);
    delete bench.settings['CONSOLE_ORIGIN'];
  });

  it.each([['root'], ['']])('has no role %j', async (role) => {
    expect((await bench.run('console', 'link', '--role', role)).code).toBe(1);
  });
});

describe('partner invite', () => {
  it('prints an invitation of the partner', async () => {
    const ran = await bench.run('partner', 'invite', 'acme', '--note', 'Ann', '--json');
    expect(ran.code).toBe(0);
    const { url, partnerId } = JSON.parse(ran.out) as { url: string; partnerId: string };
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:3003\/partner\/invitation#svct_[\w-]{43}$/);
    const found = await new InvitationStore(bench.database).find(hashOf(url), Date.now());
    expect(found).toEqual({ partnerId, partnerName: 'Acme' });
  });

  it('refuses a partner that is not there', async () => {
    const ran = await bench.run('partner', 'invite', 'nobody', '--note', 'Ann');
    expect(ran).toMatchObject({ code: 1, out: '' });
  });
});
