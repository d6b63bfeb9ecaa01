import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PartnerStore, ConsoleSessionStore, InvitationStore } from '#libs/db';
import { resolvePartner } from '#libs/operations';
import { hashApiKey, KeyRing, hashToken } from '#libs/signing';
import { CliBench } from './testing/cli-bench.support.js';
import { aPartnerId } from '#libs/testing/partner';
import { type PartnerId } from '#libs/domain';

interface Issued {
  readonly partnerId: string;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

/** Tells which partner the command is about to work on. */
const PARTNER_LINE: unknown = expect.stringMatching(/^Partner: Acme, [0-9a-f-]{36}\n$/);

let bench: CliBench;
let first: Issued;
let second: Issued;
beforeAll(async () => {
  bench = await CliBench.start();
  first = await issue('create', '--name', 'Acme');
  second = await issue('rotate', 'acme');
});
afterAll(() => bench.drop());

async function issue(...argv: string[]): Promise<Issued> {
  const { code, out, err } = await bench.run('partner', ...argv, '--json');
  expect({ code, err }).toEqual({ code: 0, err: argv[0] === 'create' ? '' : PARTNER_LINE });
  return JSON.parse(out) as Issued;
}

function isGood({ apiKey }: Issued): Promise<boolean> {
  const found = new PartnerStore(bench.database).findCredential(hashApiKey(apiKey));
  return found.then((credential) => credential !== undefined);
}

function prefixOf({ apiKey }: Issued): string {
  return apiKey.slice(0, 12);
}

function revoke(prefix: string, ...more: string[]) {
  return bench.run('partner', 'revoke', 'Acme', '--key-prefix', prefix, ...more);
}

describe('the name of a partner', () => {
  it.each([
    ['an option', '--help', /a dash/],
    ['a mix of scripts', 'Nоva Two', /one script/],
    ['an id', '3e6f0a12-7c1d-4b5e-9f00-0123456789ab', /an id/],
    ['one that turns the text', 'No\u202eva', /invisible/],
  ])('refuses a name that is %s', async (_, name, why) => {
    const { code, out, err } = await bench.run('partner', 'create', `--name=${name}`);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(why);
  });

  it('refuses a name that looks like that of another partner, and names that one', async () => {
    const name = (text: string) => ['partner', 'create', `--name=${text}`, '--json'];
    const { out } = await bench.run(...name('Cocoa Apples'));
    const { partnerId } = JSON.parse(out) as { partnerId: string };
    for (const text of ['cocoa apples', 'Cocoa App1es', 'Cocoa AppIes', 'C0c0a Apples']) {
      const { code, err } = await bench.run(...name(text));
      expect(code).toBe(1);
      expect(err).toContain('PARTNER_EXISTS');
      expect(err).toContain(`Cocoa Apples (${partnerId})`);
    }
    expect((await bench.run(...name('аррӏе'))).code).toBe(0);
    expect(await bench.run(...name('apple'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('аррӏе ('),
    });
    expect((await bench.run(...name('Cocoa Pears'))).code).toBe(0);
  });

  it('creates one of two partners that look alike, also at the same time', async () => {
    const names = ['Racing Mill', 'Racing Mi11', 'Racing MilI', 'racing mill'];
    const made = await Promise.all(
      names.map((name) => bench.run('partner', 'create', `--name=${name}`)),
    );
    expect(made.map(({ code }) => code).toSorted()).toEqual([0, 1, 1, 1]);
  });

  it('takes a partner another name, which its id outlives', async () => {
    const created = await bench.run('partner', 'create', '--name=Willow', '--json');
    const { partnerId } = JSON.parse(created.out) as { partnerId: string };
    const rename = (partner: string, name: string) =>
      bench.run('partner', 'rename', partner, '--to', name, '--as', 'ann');
    expect(await rename('willow', 'WILLOW')).toMatchObject({ code: 0 });
    expect(await rename(partnerId, 'Birch')).toEqual({
      ...{ code: 0, err: `Partner: WILLOW, ${partnerId}\n` },
      out: `WILLOW, ${partnerId} is now called Birch.\n`,
    });
    expect((await rename(partnerId, '--help')).err).toMatch(/a dash/);
    await bench.run('partner', 'create', '--name=Linden');
    expect((await rename('birch', 'LINDEN')).err).toContain('PARTNER_EXISTS');
    expect((await rename('Willow', 'Alder')).err).toContain('PARTNER_UNKNOWN');
    const rows = (await bench.audit()).filter(({ command }) => command === 'partner rename');
    expect(rows.filter(({ partner }) => partner === partnerId).reverse()).toMatchObject([
      { actor: 'operator:ann', arguments: { name: 'WILLOW' }, outcome: 'done' },
      { arguments: { name: 'Birch' }, outcome: 'done' },
      { arguments: { name: 'LINDEN' }, outcome: 'refused: PARTNER_EXISTS' },
    ]);
  });
});

describe('partner rotate and revoke', () => {
  it('prints the credential for people too', async () => {
    const { code, out } = await bench.run('partner', 'create', '--name', ' Blank ');
    expect(code).toBe(0);
    expect(out).toMatch(/API key +svck_/);
    expect(await resolvePartner(bench.database, 'Blank')).toMatchObject({ partnerName: 'Blank' });
  });

  it('issues a second credential that is good beside the first', async () => {
    expect(second).toEqual({
      partnerId: first.partnerId,
      apiKey: expect.stringMatching(/^svck_[\w-]{43}$/),
      sharedSecret: expect.stringMatching(/^svcs_[\w-]{43}$/),
    });
    expect([await isGood(first), await isGood(second)]).toEqual([true, true]);
    const keyHash = hashApiKey(second.apiKey);
    const found = await new PartnerStore(bench.database).findCredential(keyHash);
    const ring = KeyRing.parse(bench.settings['SECRETS_KEY'] ?? '');
    expect(ring.open(found?.secretCiphertext ?? Buffer.alloc(0), keyHash)).toBe(
      second.sharedSecret,
    );
  });

  it('takes no whole key, and does not repeat it', async () => {
    const ran = await revoke(first.apiKey);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/not the whole key/);
    expect(ran.err).not.toContain(first.apiKey);
  });

  it('refuses an unknown beginning, one that fits several, and the last one', async () => {
    expect((await revoke('svck_-------')).err).toContain('[CREDENTIAL_MISSING]');
    await bench.database.pool.query(
      `INSERT INTO partners.credential (partner_id, key_hash, key_prefix, secret_ciphertext)
        VALUES ($1, sha256('twin'), $2, 'x')`,
      [first.partnerId, prefixOf(second)],
    );
    expect((await revoke(prefixOf(second))).err).toContain('[CREDENTIAL_AMBIGUOUS]');
    await bench.database.pool.query(
      `UPDATE partners.credential SET revoked_at = now() WHERE secret_ciphertext = 'x'`,
    );
    const ran = await revoke(prefixOf(first));
    expect(ran).toMatchObject({ code: 0, err: PARTNER_LINE });
    expect(ran.out).toContain('1 active left');
    expect([await isGood(first), await isGood(second)]).toEqual([false, true]);
    expect((await revoke(prefixOf(first))).err).toContain('[CREDENTIAL_MISSING]');
    expect((await revoke(prefixOf(second))).err).toContain('[LAST_CREDENTIAL]');
    expect(await isGood(second)).toBe(true);
    expect((await revoke(prefixOf(second), '--force')).code).toBe(0);
    expect(await isGood(second)).toBe(false);
  });

  it('leaves a row for each, the refused ones too', async () => {
    const rows = (await bench.audit()).filter(({ command }) => command === 'partner revoke');
    expect(rows.map(({ outcome }) => outcome).reverse()).toEqual([
      'refused: CREDENTIAL_MISSING',
      'refused: CREDENTIAL_AMBIGUOUS',
      'done',
      'refused: CREDENTIAL_MISSING',
      'refused: LAST_CREDENTIAL',
      'done',
    ]);
    expect(new Set(rows.map(({ partner }) => partner))).toEqual(new Set([first.partnerId]));
  });
});

describe('partner pause and resume', () => {
  it('throws the switch and says so', async () => {
    await bench.partner('Nova', 'https://game.example');
    expect((await bench.run('partner', 'pause', 'nova')).out).toMatch(
      /^Nova, [0-9a-f-]{36}, takes no new/,
    );
    expect((await bench.run('partner', 'list')).out).toMatch(/redemptions +PAUSED/);
    expect((await bench.run('partner', 'resume', 'nova')).out).toMatch(
      /^Nova, [0-9a-f-]{36}, takes redemptions/,
    );
    expect((await bench.run('partner', 'list')).out).not.toMatch(/PAUSED/);
    const [resumed, paused] = await bench.audit();
    expect([paused?.command, resumed?.command]).toEqual(['partner pause', 'partner resume']);
  });

  it('needs a partner with a callback', async () => {
    const { err } = await bench.run('partner', 'pause', 'Acme');
    expect(err).toContain('No callback is set for this partner');
    expect(err).toContain('[PARTNER_MISSING]');
    expect((await bench.run('partner', 'pause', 'Nobody')).err).toContain('[PARTNER_UNKNOWN]');
  });
});

describe('partner list', () => {
  it('shows all but secrets, for people and as JSON', async () => {
    const { out } = await bench.run('partner', 'list');
    expect(out).toMatch(/^Acme\n {2}id +[0-9a-f-]{36}\n/m);
    expect(out).toMatch(new RegExp(`credential +${prefixOf(first)}…  created .*, revoked `));
    expect(out).toMatch(/callback +none: nothing can be redeemed/);
    const json = JSON.parse((await bench.run('partner', 'list', '--json')).out) as object[];
    expect(json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id: first.partnerId,
          name: 'Acme',
          rate: 20,
          burst: 100,
          callback: null,
          credentials: expect.arrayContaining([
            {
              keyPrefix: prefixOf(first),
              createdAt: expect.stringMatching(/Z$/),
              revokedAt: expect.stringMatching(/Z$/),
              endsAt: null,
              lastUsedAt: null,
            },
          ]),
        }),
        expect.objectContaining({
          name: 'Nova',
          callback: {
            url: 'https://game.example',
            usdPerPoint: '0.01',
            bonus: null,
            minPoints: null,
            maxPoints: null,
            dailyTokenBudget: null,
            confirms: true,
            capabilities: [],
            paused: false,
          },
        }),
      ]),
    );
  });

  it('shows and writes nothing of a key behind its beginning, but for the one time', async () => {
    const written = await bench.written();
    for (const { apiKey, sharedSecret } of [first, second]) {
      expect(bench.printed.split(sharedSecret)).toHaveLength(2);
      expect(bench.printed.split(apiKey)).toHaveLength(2);
      expect(written).not.toContain(sharedSecret);
      expect(written).not.toContain(apiKey.slice(0, 14));
    }
  });
});

function hashOf(url: string): Buffer {
  return hashToken(new URL(url).hash.slice(1)) as Buffer;
}

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
    expect(done).toMatchObject({ code: 0, err: PARTNER_LINE });
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
    expect(removed).toMatchObject({ code: 0, err: PARTNER_LINE });
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
