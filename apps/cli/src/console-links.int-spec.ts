import { aPartnerId } from '#libs/testing/partner';
import { type PartnerId } from '#libs/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsoleSessionStore, InvitationStore, SignInLinkStore } from '#libs/db';
import { hashToken } from '#libs/signing';
import { CliBench } from './testing/cli-bench.support.js';

const PARTNER_LINE = /^Partner: Acme, [0-9a-f-]{36}\n$/;

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
});

describe('partner invite', () => {
  it('prints an invitation of the partner', async () => {
    const ran = await bench.run('partner', 'invite', 'acme', '--note', 'Ann', '--json');
    expect(ran.code).toBe(0);
    const { url, partnerId } = JSON.parse(ran.out) as { url: string; partnerId: PartnerId };
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:3003\/partner\/invitation#svct_[\w-]{43}$/);
    const found = await new InvitationStore(bench.database).find(hashOf(url), Date.now());
    expect(found).toEqual({ partnerId, partnerName: 'Acme', inviter: null });
  });
});

describe('people of a partner', () => {
  interface People {
    readonly members: { readonly subject: string; readonly name: string }[];
    readonly invitations: { readonly id: string; readonly state: string; readonly note: string }[];
  }
  const people = async (): Promise<People> =>
    JSON.parse((await bench.run('partner', 'members', 'acme', '--json')).out) as People;

  async function invited(note: string): Promise<{ tokenHash: Buffer; id: string }> {
    const { out } = await bench.run('partner', 'invite', 'acme', '--note', note, '--json');
    const { url } = JSON.parse(out) as { url: string };
    const [newest] = (await people()).invitations;
    expect(newest).toMatchObject({ note, state: 'open' });
    return { tokenHash: hashOf(url), id: newest?.id ?? '' };
  }

  it('an invitation is withdrawn by its number, once, and its link is of no use then', async () => {
    const { id, tokenHash } = await invited('bob@game.example');
    const argv = ['partner', 'withdraw-invitation', 'Acme', '--invitation', id];
    const done = await bench.run(...argv);
    expect(done).toMatchObject({ code: 0, err: expect.stringMatching(PARTNER_LINE) });
    expect(done.out).toContain(`Invitation ${id} is withdrawn`);
    const found = await new InvitationStore(bench.database).find(tokenHash, Date.now());
    expect(found).toBeUndefined();
    expect((await people()).invitations[0]).toMatchObject({ id, state: 'withdrawn' });

    const again = await bench.run(...argv);
    expect(again).toMatchObject({ code: 1, out: '' });
    expect(again.err).toContain('`partner members` lists them');
    const [refused, made] = await bench.audit();
    expect([made?.outcome, refused?.outcome]).toEqual(['done', 'refused: INVITATION_CLOSED']);
    expect(made?.command).toBe('partner withdraw-invitation');
  });

  it.each(['-1', 'x', '9'.repeat(30)])('%s is no number of one', async (text) => {
    const argv = ['partner', 'withdraw-invitation', 'Acme', `--invitation=${text}`];
    expect(await bench.run(...argv)).toMatchObject({ code: 1, out: '' });
  });

  it('a member is removed after a yes, with the open sessions', async () => {
    const { tokenHash } = await invited('eve@game.example');
    const [subject, nowMs] = ['link:eve', Date.now()];
    const store = new InvitationStore(bench.database);
    const partnerId = await store.accept(tokenHash, { subject, name: 'Eve <b>' }, nowMs);
    const session = {
      standing: { kind: 'partner', partnerId: partnerId ?? aPartnerId() } as const,
    };
    const sessions = new ConsoleSessionStore(bench.database);
    await sessions.open({
      ...{ ...session, tokenHash, subject, name: 'Eve', nowMs, expiresAtMs: nowMs + 60_000 },
    });
    expect((await people()).members).toMatchObject([{ subject, name: 'Eve <b>' }]);

    const argv = ['partner', 'remove-member', 'acme', '--subject', subject];
    const unasked = await bench.run(...argv);
    expect(unasked).toMatchObject({ code: 1, out: '' });
    expect(unasked.err).toContain('add --yes');
    expect((await people()).members).toHaveLength(1);

    const removed = await bench.run(...argv, '--yes');
    expect(removed).toMatchObject({ code: 0, err: expect.stringMatching(PARTNER_LINE) });
    expect((await people()).members).toEqual([]);
    expect(await sessions.find(tokenHash, { nowMs })).toBeUndefined();
    expect((await bench.audit())[0]).toMatchObject({
      command: 'partner remove-member',
      outcome: 'done',
    });
    const again = await bench.run(...argv, '--yes');
    expect(again).toMatchObject({ code: 1, out: '' });
    expect(again.err).toContain('There is no such member');
  });

  it('the list says who, and shows no mark that hides or turns text', async () => {
    const hidden = await bench.run('partner', 'invite', 'acme', '--note', 'ann\u202Egpj.exe');
    expect(hidden).toMatchObject({ code: 1, out: '' });
    expect(hidden.err).toContain('none of them a control, direction or invisible one');
    const { out } = await bench.run('partner', 'members', 'acme');
    expect(out).toMatch(/invitation\s+\d+, accepted/);
    expect(out).toMatch(/for\s+bob@game\.example/);
    expect(await bench.run('partner', 'members', 'nobody')).toMatchObject({ code: 1, out: '' });
  });
});
