import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintSecretsKey, hashToken, hashApiKey, KeyRing } from '#libs/signing';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Ran, runCaptured, CliBench, CALLBACK_SECRET } from './testing/cli-bench.support.js';
import { SignInLinkStore, CallbackStore, PartnerStore } from '#libs/db';

let test: TestDatabase;
let empty: TestDatabase;
beforeAll(async () => {
  [test, empty] = await Promise.all([createTestDatabase(), createTestDatabase('empty')]);
});
afterAll(() => Promise.all([test.drop(), empty.drop()]));

const SECRETS_KEY = mintSecretsKey().toString('base64');

const cli = (settings: Record<string, string>, ...argv: string[]): Promise<Ran> =>
  runCaptured(argv, settings);

function settings(): Record<string, string> {
  return { DATABASE_URL: test.url, SECRETS_KEY };
}

describe('a command', () => {
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

describe('sign-in links', () => {
  let bench: CliBench;
  beforeAll(async () => {
    bench = await CliBench.start();
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

describe('stored secrets', () => {
  /** An unused URL: these partners are never called. */
  const URL = 'https://game.example/svc';
  const OLD = mintSecretsKey().toString('base64');
  const NEW = mintSecretsKey().toString('base64');
  const [OLD_ID] = KeyRing.parse(OLD).keyIds;
  const [NEW_ID] = KeyRing.parse(NEW).keyIds;
  const PARTNERS = 130;

  let bench: CliBench;
  let shared: { apiKey: string; sharedSecret: string };
  beforeAll(async () => {
    bench = await CliBench.start();
    bench.settings['SECRETS_KEY'] = OLD;
    const created = await bench.run('partner', 'create', '--name', 'First', '--json');
    shared = JSON.parse(created.out) as typeof shared;
    await bench.partner('Called', URL);
    // More secrets than one batch holds; no partner ever decrypts them.
    const keyRing = KeyRing.parse(OLD);
    const store = new PartnerStore(bench.database);
    for (let ordinal = 0; ordinal < PARTNERS; ordinal++) {
      const keyHash = hashApiKey(`svck_${ordinal}`);
      const secretCiphertext = keyRing.seal(`secret-${ordinal}`, keyHash);
      const credential = { keyHash, keyPrefix: `svck_${ordinal}`, secretCiphertext };
      await store.create({ name: `Many ${ordinal}`, rate: 1, burst: 1, credential });
    }
    await bench.run('partner', 'rotate', 'First');
    await bench.run('partner', 'rotate', 'Called');
  });
  afterAll(() => bench.drop());

  function run(secretsKey: string, ...argv: string[]) {
    return bench.runWith({ settings: { SECRETS_KEY: secretsKey } }, 'secrets', ...argv);
  }

  async function opened(secretsKey: string): Promise<string[]> {
    const keyRing = KeyRing.parse(secretsKey);
    const keyHash = hashApiKey(shared.apiKey);
    const credential = await new PartnerStore(bench.database).findCredential(keyHash);
    const callbacks = await new CallbackStore(bench.database).list();
    const callback = callbacks.find(({ partnerName }) => partnerName === 'Called');
    return [
      keyRing.open(credential?.secretCiphertext ?? Buffer.alloc(0), keyHash),
      keyRing.open(callback?.secretCiphertext ?? Buffer.alloc(0), hashApiKey(callback?.key ?? '')),
    ];
  }

  /** The credentials of First and Called, their rotated ones, and the many partners. */
  const CREDENTIALS = PARTNERS + 4;

  it('says which keys are in use, and fails where one that is needed is not there', async () => {
    const before = await run(`${NEW},${OLD}`, 'status');
    expect(before).toMatchObject({ code: 0 });
    expect(before.out).toMatch(new RegExp(`${NEW_ID} +first: seals +0 +0 +0`));
    expect(before.out).toMatch(new RegExp(`${OLD_ID} +behind: opens +${CREDENTIALS} +1 +0`));
    expect(before.out).toContain(`Key ${OLD_ID} is still used`);
    const missing = await run(NEW, 'status', '--json');
    expect(missing.code).toBe(1);
    expect(JSON.parse(missing.out)).toEqual([
      { keyId: NEW_ID, standing: 'first', credentials: 0, callbacks: 0, webhooks: 0, revoked: 0 },
      {
        keyId: OLD_ID,
        standing: 'missing',
        credentials: CREDENTIALS,
        callbacks: 1,
        webhooks: 0,
        revoked: 0,
      },
    ]);
  });

  it('leaves what it cannot open as it is, says so and fails', async () => {
    const { code, out } = await run(NEW, 'rewrap');
    expect(code).toBe(1);
    expect(out).toContain(
      `Sealed again: 0. Sealed so already: 0. Left as they are: ${CREDENTIALS + 1}.`,
    );
    expect(out).toMatch(/ {2}credential of First: .*Add that key .*\[SECRETS_KEY_MISSING\]/);
    expect(await opened(OLD)).toEqual([shared.sharedSecret, CALLBACK_SECRET]);
    expect((await bench.audit()).filter(({ command }) => command === 'secrets rewrap')).toEqual([]);
  });

  it('seals all of them again, the same secrets, with an audit row for each batch', async () => {
    const { code, out } = await run(`${NEW},${OLD}`, 'rewrap', '--as', 'ann');
    expect(code).toBe(0);
    expect(out).toContain(
      `Sealed again: ${CREDENTIALS + 1}. Sealed so already: 0. Left as they are: 0.`,
    );
    expect(out).toContain(`Key ${OLD_ID} is no longer used`);
    expect(await opened(NEW)).toEqual([shared.sharedSecret, CALLBACK_SECRET]);
    await expect(opened(OLD)).rejects.toThrow(NEW_ID);
    const rows = (await bench.audit()).filter(({ command }) => command === 'secrets rewrap');
    expect(rows.map(({ actor, arguments: given }) => ({ actor, given }))).toEqual([
      { actor: 'operator:ann', given: { place: 'callback', secrets: 1, underKey: NEW_ID } },
      { actor: 'operator:ann', given: { place: 'credential', secrets: 34, underKey: NEW_ID } },
      { actor: 'operator:ann', given: { place: 'credential', secrets: 100, underKey: NEW_ID } },
    ]);
  });

  it('finds nothing to do the second time, also without the older key', async () => {
    const rows = (await bench.audit()).length;
    const { code, out } = await run(NEW, 'rewrap', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ changed: 0, unchanged: CREDENTIALS + 1, left: [] });
    expect(await bench.audit()).toHaveLength(rows);
  });

  it('tells a damaged secret, and does not mind a revoked one', async () => {
    await bench.run('partner', 'revoke', 'Many 1', '--key-prefix', 'svck_1', '--force');
    const damage = async (name: string) =>
      bench.database.query(
        {
          text: `UPDATE partners.credential SET secret_ciphertext = set_byte(secret_ciphertext, 40, 255 - get_byte(secret_ciphertext, 40))
            WHERE partner_id = (SELECT id FROM partners.partner WHERE name = $1)`,
        },
        [name],
      );
    await damage('Many 1');
    const revoked = await run(NEW, 'rewrap');
    expect(revoked.code).toBe(0);
    expect(revoked.out).toContain('  revoked credential of Many 1: ');
    await damage('Many 2');
    const { code, out } = await run(NEW, 'rewrap');
    expect(code).toBe(1);
    expect(out).toMatch(/ {2}credential of Many 2: .*\[SEALED_SECRET_INVALID\]/);
  });

  it('never shows a secret or a key', async () => {
    const written = bench.printed + (await bench.written());
    for (const secret of [OLD, NEW, CALLBACK_SECRET, 'secret-1']) {
      expect(written).not.toContain(secret);
    }
  });
});
