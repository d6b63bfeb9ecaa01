import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PartnerStore } from '#libs/db';
import { hashApiKey, KeyRing } from '#libs/signing';
import { CliBench } from './testing/cli-bench.support.js';

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

describe('partner rotate and revoke', () => {
  it('issues a second credential that is good beside the first', async () => {
    expect(second.partnerId).toBe(first.partnerId);
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
    expect(out).toMatch(/^Acme\n {2}id +[0-9a-f-]{36}\n/);
    expect(out).toMatch(new RegExp(`credential +${prefixOf(first)}…  created .*, revoked `));
    expect(out).toMatch(/callback +none: nothing can be redeemed/);
    const json = JSON.parse((await bench.run('partner', 'list', '--json')).out) as object[];
    expect(json).toEqual([
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
    ]);
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
