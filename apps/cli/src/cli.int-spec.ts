import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PartnerStore } from '#libs/db';
import { hashApiKey, KeyRing, mintSecretsKey } from '#libs/signing';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { runCli } from './cli.js';

let test: TestDatabase;
let empty: TestDatabase;
beforeAll(async () => {
  [test, empty] = await Promise.all([createTestDatabase(), createTestDatabase('empty')]);
});
afterAll(() => Promise.all([test.drop(), empty.drop()]));

const SECRETS_KEY = mintSecretsKey().toString('base64');

async function cli(
  settings: Record<string, string>,
  ...argv: string[]
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const terminal = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
  };
  const code = await runCli(argv, terminal, () => settings);
  return { code, out, err };
}

function settings(): Record<string, string> {
  return { DATABASE_URL: test.url, SECRETS_KEY };
}

describe('partner create', () => {
  it('prints one line of JSON with a credential that the API can use', async () => {
    const argv = ['partner', 'create', '--name', 'Acme', '--rate', '5', '--burst', '9', '--json'];
    const { code, out, err } = await cli(settings(), ...argv);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^\{.*\}\n$/);
    const issued = JSON.parse(out) as Record<'partnerId' | 'apiKey' | 'sharedSecret', string>;
    expect(issued).toEqual({
      partnerId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      apiKey: expect.stringMatching(/^svck_[\w-]{43}$/),
      sharedSecret: expect.stringMatching(/^svcs_[\w-]{43}$/),
    });
    const keyHash = hashApiKey(issued.apiKey);
    const found = await new PartnerStore(await test.open()).findCredential(keyHash);
    expect(found).toMatchObject({ partnerId: issued.partnerId, rate: 5, burst: 9 });
    const sealed = found?.secretCiphertext ?? Buffer.alloc(0);
    expect(KeyRing.parse(SECRETS_KEY).open(sealed, keyHash)).toBe(issued.sharedSecret);
    expect(sealed.includes(issued.sharedSecret)).toBe(false);
  });

  it('prints the same for people, with the default limits', async () => {
    const { code, out } = await cli(settings(), 'partner', 'create', '--name', ' Nova ');
    expect(code).toBe(0);
    expect(out).toMatch(/API key +svck_/);
    const { rows } = await (
      await test.open()
    ).pool.query(`SELECT rate, burst FROM partners.partner WHERE name = 'Nova'`);
    expect(rows).toEqual([{ rate: 20, burst: 100 }]);
  });

  it.each([
    ['an option', '--help', /a dash/],
    ['a word of JavaScript', '__proto__', /a word of JavaScript/],
    ['a mix of scripts', 'Nоva Two', /one script/],
    ['fullwidth letters', 'Ｎｏｖａ', /compatibility/],
    ['an id', '3e6f0a12-7c1d-4b5e-9f00-0123456789ab', /an id/],
    ['an address', '0x52908400098527886E0F7030069857D2E4169EE7', /an id/],
    ['a number', '12345', /one letter/],
    ['two spaces', 'No  va', /two spaces/],
    ['a character that is not seen', 'No\u200bva', /invisible/],
    ['one that turns the text', 'No\u202eva', /invisible/],
    ['a letter of a script of its own', 'Ꮯꭺꮯ', /one script/],
  ])('refuses a name that is %s', async (_, name, why) => {
    const { code, out, err } = await cli(settings(), 'partner', 'create', `--name=${name}`);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(why);
  });

  it('refuses a name that looks like that of another partner, and names that one', async () => {
    const name = (text: string) => ['partner', 'create', `--name=${text}`, '--json'];
    const { out } = await cli(settings(), ...name('Cocoa Apples'));
    const { partnerId } = JSON.parse(out) as { partnerId: string };
    for (const text of ['cocoa apples', 'Cocoa App1es', 'Cocoa AppIes', 'C0c0a Apples']) {
      const { code, err } = await cli(settings(), ...name(text));
      expect(code).toBe(1);
      expect(err).toContain('PARTNER_EXISTS');
      expect(err).toContain(`Cocoa Apples (${partnerId})`);
    }
    expect((await cli(settings(), ...name('аррӏе'))).code).toBe(0);
    expect(await cli(settings(), ...name('apple'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('аррӏе ('),
    });
    expect((await cli(settings(), ...name('Cocoa Pears'))).code).toBe(0);
  });

  it('creates one of two partners that look alike, also at the same time', async () => {
    const names = ['Racing Mill', 'Racing Mi11', 'Racing MilI', 'racing mill'];
    const made = await Promise.all(
      names.map((name) => cli(settings(), 'partner', 'create', `--name=${name}`)),
    );
    expect(made.map(({ code }) => code).toSorted()).toEqual([0, 1, 1, 1]);
  });

  it('takes a partner another name, which its id outlives', async () => {
    const created = await cli(settings(), 'partner', 'create', '--name=Willow', '--json');
    const { partnerId } = JSON.parse(created.out) as { partnerId: string };
    const rename = (partner: string, name: string) =>
      cli(settings(), 'partner', 'rename', partner, '--to', name, '--as', 'ann');
    expect(await rename('willow', 'WILLOW')).toMatchObject({ code: 0 });
    expect(await rename(partnerId, 'Birch')).toEqual({
      ...{ code: 0, err: `Partner: WILLOW, ${partnerId}\n` },
      out: `WILLOW, ${partnerId} is now called Birch.\n`,
    });
    expect((await rename(partnerId, '--help')).err).toMatch(/a dash/);
    await cli(settings(), 'partner', 'create', '--name=Linden');
    expect((await rename('birch', 'LINDEN')).err).toContain('PARTNER_EXISTS');
    expect((await rename('Willow', 'Alder')).err).toContain('PARTNER_UNKNOWN');
    const { rows } = await (
      await test.open()
    ).pool.query(
      `SELECT actor, arguments, outcome FROM redemption.audit WHERE command = 'partner rename' AND partner = $1 ORDER BY id`,
      [partnerId],
    );
    expect(rows).toMatchObject([
      { actor: 'operator:ann', arguments: { name: 'WILLOW' }, outcome: 'done' },
      { arguments: { name: 'Birch' }, outcome: 'done' },
      { arguments: { name: 'LINDEN' }, outcome: 'refused: PARTNER_EXISTS' },
    ]);
  });

  it('explains what is wrong, on the error stream and with exit code 1', async () => {
    const create = ['partner', 'create', '--name', 'Twice'];
    await cli(settings(), ...create);
    const faults: [Record<string, string>, string[], RegExp][] = [
      [settings(), create, /^Another partner has this name.*\[PARTNER_EXISTS\]\n$/],
      [settings(), ['partner', 'create'], /required option '--name <name>' not specified/],
      [settings(), [...create, '--rate', '0'], /'0' is invalid.*at least 1/],
      [settings(), [...create, '--burst', '1.5'], /'1.5' is invalid.*at least 1/],
      [settings(), ['partner', 'create', '--name', ' '], /must be 1 to 100 characters/],
      [settings(), ['nothing'], /unknown command 'nothing'/],
      [{ DATABASE_URL: test.url }, create, /SECRETS_KEY must be set/],
      [{ ...settings(), SECRETS_KEY: 'hunter2' }, create, /SECRETS_KEY must be 32 bytes in base64/],
      [{}, create, /DATABASE_URL must be set\n {2}SECRETS_KEY must be set/],
      [{ ...settings(), DATABASE_URL: empty.url }, create, /run `npm run migrate` first/],
      [
        { ...settings(), DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:1/x' },
        create,
        /^The database at 127\.0\.0\.1:1 did not answer \(ECONNREFUSED\)/,
      ],
      [
        { ...settings(), DATABASE_URL: `${test.url}?sslmode=require` },
        create,
        /^The database did not answer \(The server does not support SSL connections\)/,
      ],
    ];
    for (const [source, argv, message] of faults) {
      const { code, out, err } = await cli(source, ...argv);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(message);
      expect(err).not.toContain('hunter2');
    }
  });
});

describe('migrate', () => {
  it('says what it applied, and that there was nothing to do', async () => {
    const database = await createTestDatabase('empty');
    const source = { DATABASE_URL: database.url };
    expect(await cli(source, 'migrate')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Applied 2: Schema\d+, Staking\d+\n$/),
    });
    expect(await cli(source, 'migrate')).toMatchObject({
      code: 0,
      out: 'The schema is up to date.\n',
    });
    await database.drop();
  });
});

describe('help', () => {
  it('lists the commands', async () => {
    const { code, out } = await cli({}, '--help');
    expect(code).toBe(0);
    expect(out).toMatch(/migrate[\s\S]*partner[\s\S]*\.data\/stack\.json/);
  });
  it('ends quietly where nobody reads on, as with head', () => {
    const program = `"${process.execPath}" dist/apps/cli/src/main.js --help`;
    const shell = `set -o pipefail; ${program} | true; echo $? >&2`;
    expect(spawnSync('bash', ['-c', shell], { encoding: 'utf8' }).stderr).toBe('0\n');
  });
});
