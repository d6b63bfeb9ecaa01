import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore, type PartnerCallback } from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { hashApiKey, KeyRing } from '#libs/signing';
import { CALLBACK_KEY, CALLBACK_SECRET, CliBench } from './testing/cli-bench.support.js';
import { createHmac } from 'node:crypto';

const URL_GIVEN = 'https://Game.Example/svc/';
const URL_STORED = 'https://game.example/svc';
const KEY = ['--callback-key', CALLBACK_KEY];
const NEEDED = ['--callback-url', URL_GIVEN, ...KEY, '--usd-per-point', '0.010'];

let bench: CliBench;
let directory: string;
beforeAll(async () => {
  bench = await CliBench.start();
  directory = await mkdtemp(join(tmpdir(), 'lowmark-cli-'));
});
afterAll(() => bench.drop());

async function secretFile(text: string): Promise<string[]> {
  const path = join(directory, 'secret');
  await writeFile(path, text, { mode: 0o600 });
  return ['--callback-secret-file', path];
}

async function callbackOf(name: string): Promise<PartnerCallback | undefined> {
  const all = await new CallbackStore(bench.database).list();
  return all.find(({ partnerName }) => partnerName.toLowerCase() === name.toLowerCase());
}

function opened({ secretCiphertext, key }: PartnerCallback): string {
  const { SECRETS_KEY = '' } = bench.settings;
  return KeyRing.parse(SECRETS_KEY).open(secretCiphertext, hashApiKey(key));
}

async function partners(): Promise<number> {
  return (await bench.database.pool.query('SELECT FROM partners.partner')).rowCount ?? 0;
}

describe('partner create with a callback', () => {
  it('stores all of it, the secret sealed for its key', async () => {
    const secret = await secretFile(`${CALLBACK_SECRET}\n`);
    const limits = ['--min-points', '10', '--max-points', '100000', '--daily-token-budget', '12.5'];
    const bonus = ['--bonus-from', '5000', '--bonus-rate', '0.02', '--no-confirm'];
    const capabilities = ['--capability', 'tombstones', 'enforces-freshness'];
    const argv = [...NEEDED, ...secret, ...limits, ...bonus, ...capabilities, '--as', 'ann'];
    const ran = await bench.run('partner', 'create', '--name', 'Full', '--json', ...argv);
    expect(ran).toMatchObject({ code: 0, err: '' });
    const { partnerId } = JSON.parse(ran.out) as { partnerId: string };
    const callback = await callbackOf('full');
    expect(callback).toEqual({
      partnerId,
      partnerName: 'Full',
      url: URL_STORED,
      key: CALLBACK_KEY,
      secretCiphertext: expect.anything(),
      usdPerPoint: parseDecimal('0.010'),
      bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
      minPoints: 10n,
      maxPoints: 100_000n,
      dailyTokenBudget: parseDecimal('12.5'),
      confirms: false,
      capabilities: ['tombstones', 'enforces-freshness'],
      paused: false,
    });
    expect(callback && opened(callback)).toBe(CALLBACK_SECRET);
    expect((await bench.audit())[0]).toEqual({
      actor: 'operator:ann',
      command: 'partner create',
      redemption_id: null,
      partner: partnerId,
      arguments: {
        name: 'Full',
        rate: 20,
        burst: 100,
        callbackUrl: URL_STORED,
        callbackKey: 'given',
        callbackSecret: 'given',
        usdPerPoint: '0.010',
        bonusFrom: '5000',
        bonusRate: '0.02',
        minPoints: '10',
        maxPoints: '100000',
        dailyTokenBudget: '12.5',
        confirm: false,
        capability: ['tombstones', 'enforces-freshness'],
      },
      outcome: 'done',
    });
  });

  it.each<[string, string[], RegExp]>([
    ['no URL', [...KEY, '--usd-per-point', '1'], /needs --callback-url.*\[OPTION_INVALID\]/],
    ['a private address', ['--callback-url', 'https://10.0.0.1', ...KEY], /not public \(private\)/],
    ['a password', ['--callback-url', 'https://u:hunter2@game.example'], /a password\. \[/],
    ['a query', ['--callback-url', 'https://game.example?x=hunter2'], /holds a query/],
    ['a key that is no header', [...NEEDED, '--callback-key', 'two words'], /CREDENTIAL_INVALID/],
    ['points for nothing', [...NEEDED, '--usd-per-point', '0.0'], /Expected a decimal above 0/],
    ['half a bonus', [...NEEDED, '--bonus-from', '5'], /both --bonus-from and --bonus-rate/],
    ['telepathy', [...NEEDED, '--capability', 'telepathy'], /Expected none or one of/],
  ])('refuses %s and leaves nothing behind', async (name, argv, message) => {
    const before = await partners();
    const secret = await secretFile(CALLBACK_SECRET);
    const ran = await bench.run('partner', 'create', '--name', name, ...secret, ...argv);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(message);
    expect(ran.err).not.toContain('hunter2');
    expect(await partners()).toBe(before);
  });

  it('takes development addresses only when told so, and says what the service needs', async () => {
    const argv = ['--callback-url', 'http://127.0.0.1:4000', ...KEY, '--usd-per-point', '1'];
    const secret = await secretFile(CALLBACK_SECRET);
    const create = ['partner', 'create', '--name', 'Local', ...argv, ...secret];
    expect((await bench.run(...create)).err).toContain('--allow-private');
    const ran = await bench.run(...create, '--allow-private');
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/ALLOW_PRIVATE_PARTNERS is true/);
    // The option is not stored: the next change of the URL needs it again.
    const url = ['--callback-url', 'http://127.0.0.1:4001'];
    expect((await bench.run('partner', 'set', 'local', ...url)).code).toBe(1);
    expect((await bench.run('partner', 'set', 'local', '--max-points', '9')).code).toBe(0);
  });
});

describe('the secret', () => {
  const create = ['partner', 'create', ...NEEDED, '--name'];

  it('comes from an argument too, with a warning', async () => {
    const ran = await bench.run(...create, 'Argued', '--callback-secret', CALLBACK_SECRET);
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/^Warning: .*--callback-secret-file/);
    const callback = await callbackOf('Argued');
    expect(callback && opened(callback)).toBe(CALLBACK_SECRET);
  });

  it('loses the one line break at its end and nothing else', async () => {
    await bench.run(...create, 'Broken', ...(await secretFile(' with spaces \r\n')));
    const callback = await callbackOf('Broken');
    expect(callback && opened(callback)).toBe(' with spaces ');
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['a line break only', '\n'],
    ['two lines', 'hunter2\nhunter2\n'],
    ['too much', 'hunter2'.repeat(1000)],
  ])('is not %s', async (_, text) => {
    const before = await partners();
    for (const input of [await secretFile(text), ['--callback-secret', '-']]) {
      const stdin = { input: () => Promise.resolve(text) };
      const ran = await bench.runWith(stdin, ...create, 'Nobody', ...input);
      expect(ran).toMatchObject({ code: 1, out: '' });
      expect(ran.err).toContain('[OPTION_INVALID]');
      expect(ran.err).not.toContain('hunter2');
    }
    expect(await partners()).toBe(before);
  });

  it('is not in a file that is not there, nor in two places', async () => {
    const absent = ['--callback-secret-file', join(directory, 'absent')];
    expect((await bench.run(...create, 'Nobody', ...absent)).err).toMatch(
      /cannot be read \(ENOENT\)/,
    );
    const both = [...(await secretFile('x')), '--callback-secret', '-'];
    expect((await bench.run(...create, 'Nobody', ...both)).err).toMatch(
      /either --callback-secret or/,
    );
  });
});

describe('partner set', () => {
  it('changes only what is given', async () => {
    const given = ['--min-points', '10', '--capability', 'tombstones'];
    const partner = await bench.partner('Changing', URL_GIVEN, ...given);
    const before = await callbackOf('changing');
    const ran = await bench.run('partner', 'set', 'CHANGING', '--daily-token-budget', '7');
    expect(ran).toMatchObject({ code: 0, err: `Partner: Changing, ${partner}\n` });
    expect(ran.out).toMatch(/daily budget +7 tokens/);
    const after = await callbackOf('changing');
    expect(after).toEqual({ ...before, dailyTokenBudget: parseDecimal('7') });
    const taken = ['--min-points', 'none', '--daily-token-budget', 'none', '--capability', 'none'];
    expect((await bench.run('partner', 'set', 'changing', ...taken, '--no-confirm')).code).toBe(0);
    const { minPoints, dailyTokenBudget, ...rest } = { ...after };
    expect([minPoints, dailyTokenBudget]).toEqual([10n, parseDecimal('7')]);
    expect(await callbackOf('changing')).toEqual({ ...rest, capabilities: [], confirms: false });
    expect((await bench.audit())[0]).toMatchObject({
      command: 'partner set',
      partner: before?.partnerId,
      arguments: { partner, minPoints: 'none', capability: [], confirm: false },
    });
  });

  it('completes and takes away a bonus', async () => {
    await bench.partner('Bonus', URL_GIVEN);
    const set = ['partner', 'set', 'Bonus'];
    await bench.run(...set, '--bonus-rate', '0.5', '--bonus-from', '100');
    await bench.run(...set, '--bonus-rate', '0.25');
    const rate = parseDecimal('0.25');
    expect((await callbackOf('Bonus'))?.bonus).toEqual({ fromPoints: 100n, rate });
    await bench.run(...set, '--bonus-from', 'none');
    expect((await callbackOf('Bonus'))?.bonus).toBeUndefined();
  });

  it('checks limits against those that stay', async () => {
    await bench.partner('Limits', URL_GIVEN, '--min-points', '10');
    const before = await callbackOf('Limits');
    const ran = await bench.run('partner', 'set', 'Limits', '--max-points', '9');
    expect(ran.err).toMatch(/fewest points \(10\) would be more than the most \(9\)/);
    expect(await callbackOf('Limits')).toEqual(before);
    expect((await bench.audit())[0]).toMatchObject({ outcome: 'refused: OPTION_INVALID' });
  });

  it('seals the old secret again for a new key, and a new secret for the old key', async () => {
    await bench.partner('Keys', URL_GIVEN);
    await bench.run('partner', 'set', 'Keys', '--callback-key', 'pk-2');
    const rekeyed = await callbackOf('Keys');
    expect(rekeyed?.key).toBe('pk-2');
    expect(rekeyed && opened(rekeyed)).toBe(CALLBACK_SECRET);
    await bench.run('partner', 'set', 'Keys', ...(await secretFile('another')));
    const resealed = await callbackOf('Keys');
    expect(resealed?.key).toBe('pk-2');
    expect(resealed && opened(resealed)).toBe('another');
  });

  it('loses no change of two that happen at once', async () => {
    await bench.partner('Racing', URL_GIVEN);
    const set = ['partner', 'set', 'Racing'];
    await Promise.all([
      bench.run(...set, '--min-points', '3'),
      bench.run(...set, '--max-points', '30'),
      bench.run(...set, '--no-confirm'),
    ]);
    const expected = { minPoints: 3n, maxPoints: 30n, confirms: false };
    expect(await callbackOf('Racing')).toMatchObject(expected);
  });

  it('sets limits at the api and the callback in one transaction, with one audit row of all of it', async () => {
    const partner = await bench.partner('Whole', URL_GIVEN, '--rate', '5', '--burst', '6');
    const before = await callbackOf('Whole');
    const set = ['partner', 'set', 'Whole', '--rate', '9', '--usd-per-point', '77'];
    const { pool } = bench.database;
    await pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no limits today'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON partners.partner EXECUTE FUNCTION refuse()`);
    const refused = await bench.run(...set);
    await pool.query('DROP FUNCTION refuse CASCADE');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('DATABASE_REFUSED') });
    expect(await callbackOf('Whole')).toEqual(before);
    expect((await bench.run(...set)).out).toMatch(/77 USD[^]*9 a second, 6 at once/);
    const both = { command: 'partner set', arguments: { partner, rate: 9, usdPerPoint: '77' } };
    expect((await bench.audit()).slice(0, 3)).toMatchObject([
      { ...both, outcome: 'done' },
      { ...both, outcome: 'refused: DATABASE_REFUSED' },
      { command: 'partner create' },
    ]);
  });

  it('says that nothing is redeemed without a daily token budget', async () => {
    const note = /^Nothing can be redeemed with this partner before it has a daily token budget/m;
    await bench.partner('Bare budget', URL_GIVEN);
    const set = ['partner', 'set', 'Bare budget'];
    const ran = await bench.run(...set, '--max-points', '9');
    expect(ran.err).toMatch(note);
    expect(ran.out).toMatch(/daily budget +NOT SET: nothing can be redeemed/);
    const listed = async () =>
      (await bench.run('partner', 'list')).out.split('Bare budget')[1] ?? '';
    expect(await listed()).toMatch(/redemptions +REFUSED: no daily token budget/);
    expect((await bench.run(...set, '--daily-token-budget', '5')).err).not.toMatch(note);
    expect(await listed()).toMatch(/redemptions +open/);
  });

  it('needs all of it the first time, something, and a partner', async () => {
    await bench.run('partner', 'create', '--name', 'Bare');
    const first = await bench.run('partner', 'set', 'Bare', '--callback-url', URL_GIVEN);
    expect(first.err).toMatch(/needs --callback-url.*first time/);
    expect((await bench.run('partner', 'set', 'Bare')).err).toMatch(/Nothing to set/);
    const nobody = await bench.run('partner', 'set', 'Nobody', '--confirm');
    expect(nobody.err).toMatch(/\[PARTNER_UNKNOWN\]/);
    const refused = { partner: null, outcome: 'refused: PARTNER_UNKNOWN' };
    expect((await bench.audit())[0]).toMatchObject({
      ...refused,
      arguments: { partner: 'Nobody' },
    });
    // What looks like a credential is not kept.
    const key = `svck_${'a'.repeat(43)}`;
    await bench.run('partner', 'set', key, '--confirm');
    const [note] = await bench.audit();
    expect(note).toMatchObject(refused);
    expect(JSON.stringify(note)).not.toContain(key);
    const all = [...NEEDED, ...(await secretFile(CALLBACK_SECRET))];
    expect((await bench.run('partner', 'set', 'Bare', ...all)).code).toBe(0);
    expect((await callbackOf('Bare'))?.url).toBe(URL_STORED);
  });
});

it('shows and writes no callback key or secret anywhere', async () => {
  await bench.run('partner', 'list');
  await bench.run('partner', 'list', '--json');
  const everything = bench.printed + (await bench.written());
  for (const secret of [
    CALLBACK_SECRET,
    JSON.stringify(CALLBACK_SECRET).slice(1, -1),
    CALLBACK_KEY,
  ]) {
    expect(everything).not.toContain(secret);
  }
});

describe('signatures and capabilities', () => {
  const ID = '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d';
  const MESSAGE = ['--method', 'POST', '--path', '/game/x?y=1', '--request-id', ID, '--body', '{}'];
  const CONTENT = `POST/game/x${ID}{}`;

  async function file(text: string): Promise<string> {
    const path = join(directory, 'file');
    await writeFile(path, text);
    return path;
  }

  function hmac(content: string, secret: string): string {
    return createHmac('sha256', secret).update(content).digest('hex');
  }

  describe('sign', () => {
    it('shows content and signature under the secret of a file, and never the secret', async () => {
      const argv = [...MESSAGE, '--secret-file', await file('a-secret-of-mine\n')];
      const ran = await bench.run('sign', ...argv);
      expect(ran).toMatchObject({ code: 0, err: '' });
      expect(ran.out).toContain(CONTENT);
      expect(ran.out).toContain(hmac(CONTENT, 'a-secret-of-mine'));
      expect(ran.out).not.toContain('a-secret-of-mine');
    });

    it('takes the secret of a partner’s callbacks', async () => {
      const callback = ['--callback-url', 'https://game.example', '--callback-key', CALLBACK_KEY];
      const path = await file(CALLBACK_SECRET);
      const rest = ['--callback-secret-file', path, '--usd-per-point', '1'];
      await bench.run('partner', 'create', '--name', 'Signer', ...callback, ...rest);
      const { out } = await bench.run('sign', ...MESSAGE, '--partner', 'signer', '--json');
      const signature = hmac(CONTENT, CALLBACK_SECRET);
      expect(JSON.parse(out)).toEqual({ content: CONTENT, signature, mistakes: [] });
    });

    it('names the mistake in another signature, and fails', async () => {
      const given = hmac(CONTENT, 's').toUpperCase();
      const argv = [...MESSAGE, '--secret', '-', '--signature', given];
      const ran = await bench.runWith({ input: () => Promise.resolve('s\n') }, 'sign', ...argv);
      expect(ran.code).toBe(1);
      expect(ran.out).toContain('upper-case hex');
      const other = [...MESSAGE, '--secret', '-', '--signature', 'f'.repeat(64)];
      const unknown = await bench.runWith({ input: () => Promise.resolve('s') }, 'sign', ...other);
      expect(unknown.out).toContain('none that is known');
    });

    it.each([
      [['--method', 'GET', '--path', '/'], 'Give one of --secret-file, --secret and --partner.'],
      [[...MESSAGE, '--secret', 'x', '--body-file', '/none'], 'either --body or --body-file'],
      [['--method', 'GET', '--path', '/', '--secret', 'x', '--body-file', '/none'], 'ENOENT'],
      [[...MESSAGE, '--partner', 'nobody'], 'There is no partner of this name'],
    ])('refuses %j', async (argv, message) => {
      const ran = await bench.run('sign', ...argv);
      expect(ran.code).toBe(1);
      expect(ran.err).toContain(message);
    });
  });

  describe('partner set --capabilities-from', () => {
    const report = (capabilities: unknown) => file(JSON.stringify({ capabilities }));

    it('records what the tester saw at work, and nothing that it did not', async () => {
      const path = await report({ tombstones: true, 'enforces-freshness': null, other: true });
      const ran = await bench.run('partner', 'set', 'Signer', '--capabilities-from', path);
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.out).toMatch(/capabilities +tombstones\n/);
    });

    it('refuses what is no report, and two lists', async () => {
      const set = (path: string, ...more: string[]) =>
        bench.run('partner', 'set', 'Signer', '--capabilities-from', path, ...more);
      expect((await set(await file('[]'))).err).toContain('not a report');
      expect((await set(await file('{'))).err).toContain('not a report');
      expect((await set('/none')).err).toContain('ENOENT');
      const path = await report({ tombstones: true });
      expect((await set(path, '--capability', 'none')).err).toContain('Give either');
    });
  });
});
