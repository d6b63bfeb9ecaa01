import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readSettings, SecretsSettings } from '#libs/config';
import { PROGRAM_ROLES } from '#libs/db';
import { addressOfKey } from '#libs/devchain';
import { KeyRing } from '#libs/signing';
import { requireOneServer } from './one-server.js';
import {
  markTrialOrRefuse,
  fileOfSecret,
  makeMissing,
  setSecret,
  shareSecrets,
} from './secret-files.js';

const PROGRAMS = [
  'postgres',
  'redis',
  'migrate',
  'indexer',
  'api',
  'redemption',
  'console',
  'cli',
  'game',
];
let root: string;
const text = (path: string): string => readFileSync(join(root, path), 'utf8');

function rewrite(name: string, value: string): void {
  rmSync(join(root, 'secrets', name), { force: true });
  writeFileSync(join(root, 'secrets', name), `${value}\n`);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lowmark-secrets-'));
  for (const folder of ['secrets', 'signer', 'game']) mkdirSync(join(root, folder));
  for (const program of PROGRAMS) mkdirSync(join(root, 'for', program), { recursive: true });
});

/** Acts as a user who may not read what belongs to the user of the tests. */
async function asOther(act: () => Promise<unknown>): Promise<void> {
  const user = process.geteuid?.() ?? 0;
  if (user === 0) process.seteuid?.(65_534);
  try {
    await act();
  } finally {
    if (user === 0) process.seteuid?.(user);
  }
}

describe('the secrets of docker compose', () => {
  it('say who may read a file that they may not read, and make nothing', async () => {
    await makeMissing(root, 'base');
    for (const folder of ['', 'secrets', 'signer', 'game']) chmodSync(join(root, folder), 0o755);
    const path = join(root, 'secrets/evidence_key');
    chmodSync(path, 0);
    const owner = statSync(path).uid;
    await asOther(async () => {
      await expect(makeMissing(root, 'base')).rejects.toThrow(
        `cannot be read: it belongs to user ${owner} with mode `,
      );
    });
  });

  it('are made once, in a form that the services take', async () => {
    const made = await makeMissing(root, 'base');
    expect(made).toHaveLength(12);
    const before = made.map((path) => readFileSync(path, 'utf8'));
    expect(await makeMissing(root, 'base')).toEqual([]);
    expect(made.map((path) => readFileSync(path, 'utf8'))).toEqual(before);

    const settings = readSettings(SecretsSettings, {
      DATABASE_URL_FILE: join(root, 'secrets/database_url'),
      SECRETS_KEY_FILE: join(root, 'secrets/secrets_key'),
    });
    expect(new URL(settings.databaseUrl).password).toBe(text('secrets/postgres_password').trim());
    expect(() => KeyRing.parse(settings.secretsKey)).not.toThrow();
    expect(readdirSync(join(root, 'signer'))).toEqual([]);
  });

  it('can be read by their owner only, but for the one that PostgreSQL needs', async () => {
    await makeMissing(root, 'local');
    const modes = ['secrets', 'signer', 'game'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((file) => {
        return [file, (statSync(join(root, folder, file)).mode & 0o777).toString(8)];
      }),
    );
    expect(modes.filter(([, mode]) => mode !== '400').sort()).toEqual([
      ['postgres_password', '444'],
      ['redis.conf', '444'],
    ]);
    expect(modes).toHaveLength(16);
  });

  it('that somebody brought are kept, and the rest fits them', async () => {
    writeFileSync(join(root, 'secrets/postgres_password'), 'p@ss/word\n');
    writeFileSync(join(root, 'signer/voucher_signer_key'), 'mine\n');
    await makeMissing(root, 'local');
    expect(text('secrets/postgres_password')).toBe('p@ss/word\n');
    expect(text('signer/voucher_signer_key')).toBe('mine\n');
    const url = new URL(text('secrets/database_url').trim());
    expect(decodeURIComponent(url.password)).toBe('p@ss/word');
  });

  it('are given to each program that reads them, and to no other', async () => {
    await makeMissing(root, 'base');
    writeFileSync(join(root, 'secrets/rpc_urls'), 'https://one.example\n');
    writeFileSync(join(root, 'for/indexer/secrets_key'), 'left over');
    await shareSecrets(root, 'base');
    const shares = PROGRAMS.map((one) => [one, readdirSync(join(root, 'for', one)).sort()]);
    expect(Object.fromEntries(shares)).toEqual({
      postgres: ['postgres_password'],
      redis: ['redis.conf'],
      migrate: [
        'api_database_url',
        'cli_database_url',
        'console_database_url',
        'database_url',
        'indexer_database_url',
        'portal_database_url',
        'redemption_database_url',
        'rpc_urls',
      ],
      indexer: ['database_url', 'rpc_urls'],
      api: ['database_url', 'redis_url', 'secrets_key'],
      redemption: ['database_url', 'evidence_key', 'redis_url', 'rpc_urls', 'secrets_key'],
      console: ['database_url', 'portal_database_url', 'rpc_urls', 'secrets_key'],
      cli: ['database_url', 'redis_url', 'rpc_urls', 'secrets_key'],
      game: [],
    });
    expect(await shareSecrets(root, 'base')).toEqual([]);
    const files = [
      ...['migrate', 'indexer', 'api', 'redemption', 'cli', 'console'].map(
        (one) => `for/${one}/database_url`,
      ),
      'for/console/portal_database_url',
    ];
    const users = files.map((file) => new URL(text(file).trim()).username);
    expect(users).toEqual([
      'lowmark',
      'lowmark_indexer',
      'lowmark_api',
      'lowmark_redemption',
      'lowmark_cli',
      'lowmark_console_web',
      'lowmark_portal_web',
    ]);
    const roles: readonly string[] = Object.values(PROGRAM_ROLES);
    expect(users.filter((user) => roles.includes(user))).toEqual([]);
    const { password } = new URL(text('for/api/redis_url').trim());
    expect(text('for/redis/redis.conf').trim()).toBe(`requirepass ${password}`);
    expect(password.length).toBeGreaterThanOrEqual(64);
  });

  it('give the game of a trial a database of its own, with its own user', async () => {
    await makeMissing(root, 'local');
    await shareSecrets(root, 'local');
    const { username, pathname } = new URL(text('for/game/database_url').trim());
    expect([username, pathname]).toEqual(['lowmark_game', '/lowmark_game']);
    expect(text('for/migrate/game_database_url')).toBe(text('for/game/database_url'));
  });

  it('give the console of a trial what vouches for redemptions, and take it away from a real one', async () => {
    await makeMissing(root, 'base');
    const copy = join(root, 'for/console/evidence_key');
    expect(await shareSecrets(root, 'local')).toContain(copy);
    expect(text('for/console/evidence_key')).toBe(text('secrets/evidence_key'));
    expect(statSync(copy).mode & 0o777).toBe(0o400);
    const readers = PROGRAMS.filter((one) =>
      readdirSync(join(root, 'for', one)).includes('evidence_key'),
    );
    expect(readers).toEqual(['redemption', 'console']);
    await shareSecrets(root, 'base');
    expect(readdirSync(join(root, 'for/console'))).not.toContain('evidence_key');
  });

  it('that were replaced are given again', async () => {
    await makeMissing(root, 'base');
    await shareSecrets(root, 'base');
    rmSync(join(root, 'secrets/secrets_key'));
    writeFileSync(join(root, 'secrets/secrets_key'), 'another\n');
    expect((await shareSecrets(root, 'base')).sort()).toEqual(
      ['api', 'cli', 'console', 'redemption'].map((one) => join(root, 'for', one, 'secrets_key')),
    );
  });

  it('are refused where programs would go on with the database server of before', async () => {
    await makeMissing(root, 'base');
    await requireOneServer(root);
    rewrite('database_url', 'postgresql://lowmark:pw@DB.example/lowmark');
    const names = ['api', 'indexer', 'redemption', 'console', 'portal', 'cli'];
    const others = names.map((name) => `${name}_database_url (postgres:5432)`).join(', ');
    await expect(requireOneServer(root)).rejects.toThrow(
      `database_url leads to db.example:5432, and these lead to another server: ${others}. Remove each …_database_url`,
    );
    for (const name of names) rmSync(join(root, `secrets/${name}_database_url`));
    await makeMissing(root, 'base');
    await requireOneServer(root);
    expect(new URL(text('secrets/api_database_url').trim()).host).toBe('DB.example');
  });

  it('lead to one server where the direct URL beside a pooler’s does', async () => {
    await makeMissing(root, 'base');
    rewrite('api_database_url', 'postgresql://lowmark_api:pw@pgbouncer:6432/lowmark');
    await expect(requireOneServer(root)).rejects.toThrow('api_database_url (pgbouncer:6432)');
    rewrite('api_database_direct_url', 'postgresql://lowmark_api:pw@postgres:5432/lowmark');
    await requireOneServer(root);
    rewrite('api_database_direct_url', 'postgresql://lowmark_api:pw@db1:5432/lowmark');
    await expect(requireOneServer(root)).rejects.toThrow('api_database_direct_url (db1:5432)');
    rewrite('cli_database_url', 'db1/lowmark');
    await expect(requireOneServer(root)).rejects.toThrow('cli_database_url must be a URL');
    rewrite('cli_database_url', 'postgresql://lowmark_cli:pw@db1,db2/lowmark');
    await expect(requireOneServer(root)).rejects.toThrow('cli_database_url must name one host');
  });

  it.each([
    ['secrets_key', 'no partner’s secret can be read', 'api'],
    ['evidence_key', 'open redemptions stop in `attention`', 'redemption'],
  ])('do not get a new %s in place of one that is gone', async (name, lost, reader) => {
    await makeMissing(root, 'base');
    await shareSecrets(root, 'base');
    rmSync(join(root, 'secrets', name));
    const refusal = makeMissing(root, 'base');
    await expect(refusal).rejects.toThrow(`${name} is missing`);
    await expect(refusal).rejects.toThrow(lost);
    await expect(refusal).rejects.toThrow(
      `docker compose exec -T ${reader} cat /run/lowmark/secrets/${name} | ./lowmark secret set ${name}`,
    );
    expect(readdirSync(join(root, 'secrets'))).not.toContain(name);
    // The copy that the running service has is not touched.
    expect(readdirSync(join(root, 'for', reader))).toContain(name);
  });

  it.each(['secrets_key', 'evidence_key', 'redis.conf'])(
    'are refused where %s alone was put into a new folder',
    async (name) => {
      await setSecret(root, name, 'of before');
      await expect(makeMissing(root, 'base')).rejects.toThrow('is missing, though other secrets');
      expect(readdirSync(join(root, 'secrets'))).toEqual([name]);
    },
  );

  it('are refused where the whole folder is gone and the programs still have their copies', async () => {
    await makeMissing(root, 'base');
    await shareSecrets(root, 'base');
    rmSync(join(root, 'secrets'), { recursive: true });
    mkdirSync(join(root, 'secrets'));
    await expect(makeMissing(root, 'base')).rejects.toThrow(/secrets_key is.*evidence_key is/s);
  });

  it('of a trial do not get a new signer of vouchers, which the vault does not know', async () => {
    await makeMissing(root, 'local');
    rmSync(join(root, 'signer/voucher_signer_key'));
    await expect(makeMissing(root, 'local')).rejects.toThrow('voucher_signer_key is missing');
    // A real installation gets this key from the vault's owner.
    expect(await makeMissing(root, 'base')).toEqual([]);
  });

  it('hold a key that signs vouchers, in a trial', async () => {
    await makeMissing(root, 'local');
    expect(addressOfKey(text('signer/voucher_signer_key').trim())).toMatch(/^0x[0-9a-f]{40}$/);
  });

  it('of a trial are refused by a real installation, and the other way round', async () => {
    await markTrialOrRefuse(root, 'local');
    await makeMissing(root, 'local');
    await markTrialOrRefuse(root, 'local');
    await expect(markTrialOrRefuse(root, 'base')).rejects.toThrow('were made for a trial');
    rmSync(join(root, 'secrets/of-a-trial'));
    await markTrialOrRefuse(root, 'base');
    await expect(markTrialOrRefuse(root, 'local')).rejects.toThrow('are not those of a trial');
  });

  it('can be set by name, with the mode of those that are made', async () => {
    await makeMissing(root, 'base');
    await setSecret(root, 'secrets_key', 'new,old\n');
    await setSecret(root, 'voucher_signer_key', '0xkey\n');
    await setSecret(root, 'redis.conf', 'requirepass x');
    expect(text('secrets/secrets_key')).toBe('new,old\n');
    expect(text('signer/voucher_signer_key')).toBe('0xkey\n');
    const modeOf = (path: string): number => statSync(join(root, path)).mode & 0o777;
    expect(modeOf('signer/voucher_signer_key')).toBe(0o400);
    expect(modeOf('secrets/redis.conf')).toBe(0o444);
    expect(fileOfSecret(root, 'rpc_urls')).toBe(join(root, 'secrets/rpc_urls'));
    await expect(setSecret(root, 'secrets_key', '\n')).rejects.toThrow('is one line');
    await expect(setSecret(root, 'secrets_key', 'a\nb\n')).rejects.toThrow('is one line');
    await expect(setSecret(root, '../x', 'a')).rejects.toThrow('There is no secret ../x');
    expect(text('secrets/secrets_key')).toBe('new,old\n');
  });

  it('are never replaced where they cannot be read', async () => {
    mkdirSync(join(root, 'secrets/secrets_key'));
    await expect(makeMissing(root, 'base')).rejects.toThrow('EISDIR');
  });
});
