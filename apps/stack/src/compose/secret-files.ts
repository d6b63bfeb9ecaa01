import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { mintPrivateKey } from '#libs/devchain';
import { accessOf, DatabaseUrl } from '#libs/platform';
import { mintSecretsKey } from '#libs/signing';
import { StackError } from '../stack.error.js';

/** A secret in a file, and how to make it where the file is missing. */
interface SecretFile {
  readonly path: string;
  readonly make: () => string | Promise<string>;
  /** Readable by every user of the container that mounts it: PostgreSQL and Redis run as users of their own. */
  readonly shared?: true;
  /** What is lost with this key. Such a key is made at the first start only (`refuseLostKeys`). */
  readonly lost?: string;
}

/** File that marks the secrets of a trial, whose keys and partners must not become those of a real installation. */
const TRIAL_MARK = 'secrets/of-a-trial';

const MADE_FOR_A_TRIAL =
  'These secrets were made for a trial on a local chain (secrets/of-a-trial). Give the real installation folders or a project name ' +
  'of its own, or remove the trial with its database: `docker compose down --volumes`, and empty SECRETS_DIR and SIGNER_DIR.';
const NOT_OF_A_TRIAL =
  'These secrets are not those of a trial on a local chain, which does not use them: unset SECRETS_DIR and SIGNER_DIR, or give the ' +
  'trial a project name of its own.';

/** Users of our database, each with a URL of its own: the programs, and the console's portal for partners. */
export const PROGRAMS = ['api', 'indexer', 'redemption', 'console', 'portal', 'cli'] as const;

type Shares = Readonly<Record<string, readonly (readonly [file: string, as?: string])[]>>;

/**
 * Which program gets a copy of which file, under which name. Missing files are skipped: `rpc_urls`, `price_source`,
 * `oidc_client_secret` and the direct URLs exist only where the operator provides them.
 */
export const SHARES: Shares = {
  postgres: [['postgres_password']],
  redis: [['redis.conf']],
  migrate: [
    ['database_url'],
    ['database_direct_url'],
    ...PROGRAMS.map((program) => [`${program}_database_url`] as const),
    // For `./lowmark index`.
    ['rpc_urls'],
  ],
  indexer: [...databaseUrls('indexer'), ['rpc_urls'], ['price_source']],
  api: [...databaseUrls('api'), ['secrets_key'], ['redis_url']],
  redemption: [
    ...databaseUrls('redemption'),
    ['secrets_key'],
    ['evidence_key'],
    ['redis_url'],
    ['rpc_urls'],
    ['price_source'],
  ],
  console: [
    ...databaseUrls('console'),
    ['portal_database_url'],
    ['secrets_key'],
    ['oidc_client_secret'],
    ['rpc_urls'],
  ],
  cli: [...databaseUrls('cli'), ['secrets_key'], ['redis_url'], ['rpc_urls'], ['price_source']],
  game: [],
};

/** Additional copies in a trial: its console adopts redemptions and sets transactions of partners. */
export const TRIAL_SHARES: Shares = {
  console: [['evidence_key']],
  migrate: [['game_database_url']],
  game: [['game_database_url', 'database_url']],
};

function databaseUrls(program: string): (readonly [file: string, as: string])[] {
  return ['database_url', 'database_direct_url'].map((name) => [`${program}_${name}`, name]);
}

/** Files readable by other users: PostgreSQL and Redis run as users of their own, and mount no other files. */
const SHARED = ['postgres_password', 'redis.conf'];

export function baseSecrets(root: string): SecretFile[] {
  const passwordFile = join(root, 'secrets/postgres_password');
  return [
    { path: passwordFile, make: mintHex, shared: true },
    {
      path: join(root, 'secrets/database_url'),
      make: async () => {
        const password = encodeURIComponent((await readFile(passwordFile, 'utf8')).trimEnd());
        return `postgresql://lowmark:${password}@postgres:5432/lowmark?sslmode=disable`;
      },
    },
    {
      path: join(root, 'secrets/secrets_key'),
      make: () => mintSecretsKey().toString('base64'),
      lost: 'no partner’s secret can be read',
    },
    {
      path: join(root, 'secrets/evidence_key'),
      make: () => mintSecretsKey().toString('base64'),
      lost: 'open redemptions stop in `attention`, and their vouchers cannot be shown again',
    },
    ...PROGRAMS.map((program) => urlFile(root, program)),
    {
      path: join(root, 'secrets/redis_url'),
      make: () => `redis://:${mintHex()}@redis:6379`,
    },
    {
      path: join(root, 'secrets/redis.conf'),
      make: async () => {
        const url = new URL(await firstLine(join(root, 'secrets/redis_url')));
        // With an external Redis the bundled one is unused and gets a random password.
        const isOurs = url.hostname === 'redis' && url.password !== '';
        return `requirepass ${isOurs ? decodeURIComponent(url.password) : mintHex()}`;
      },
      shared: true,
    },
  ];
}

function urlFile(root: string, program: string): SecretFile {
  return {
    path: join(root, `secrets/${program}_database_url`),
    make: () => programUrl(join(root, 'secrets/database_url'), program),
  };
}

/** Suffixes for users whose names would otherwise equal the names of our roles. */
const ROLE_SUFFIXES: Readonly<Record<string, string>> = { console: '_web', portal: '_web' };

/**
 * The owner's URL with a user and a password of the program; `migrate` creates the user. The game also has a database
 * of its own.
 */
async function programUrl(ownerFile: string, program: string): Promise<string> {
  const user = `lowmark_${program}${ROLE_SUFFIXES[program] ?? ''}`;
  const login = { user, password: mintHex() };
  const database = program === 'game' ? { database: 'lowmark_game' } : {};
  return DatabaseUrl.parse(await firstLine(ownerFile)).as({ ...login, ...database }).href;
}

export async function firstLine(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trimEnd();
}

/**
 * Copies to `for/PROGRAM` the files that each program reads, and removes all others from there.
 * @returns the paths of the copies that changed
 */
export async function shareSecrets(root: string, kind: 'base' | 'local'): Promise<string[]> {
  const changed: string[] = [];
  for (const [program, always] of Object.entries(SHARES)) {
    const files = [...always, ...((kind === 'local' && TRIAL_SHARES[program]) || [])];
    const folder = join(root, 'for', program);
    const kept = files.map(([file, as = file]) => as);
    for (const name of await readdir(folder)) {
      if (!kept.includes(name)) await rm(join(folder, name));
    }
    for (const [file, as = file] of files) {
      if (
        await copyWhereOther(join(root, 'secrets', file), join(folder, as), SHARED.includes(file))
      ) {
        changed.push(join(folder, as));
      }
    }
  }
  return changed;
}

async function copyWhereOther(from: string, to: string, isShared: boolean): Promise<boolean> {
  if (!(await exists(from))) {
    await rm(to, { force: true });
    return false;
  }
  const text = await readFile(from);
  if ((await exists(to)) && text.equals(await readFile(to))) return false;
  await writeSecret(to, text, isShared);
  return true;
}

/**
 * Marks the folder as a trial's for kind `local`, and refuses a folder of the other kind.
 * @throws StackError where a real installation would use a trial's secrets, or the other way round
 */
export async function markTrialOrRefuse(root: string, kind: 'base' | 'local'): Promise<void> {
  const mark = join(root, TRIAL_MARK);
  const isOfTrial = await exists(mark);
  if (kind === 'base') {
    if (isOfTrial) throw new StackError(MADE_FOR_A_TRIAL);
    return;
  }
  if (isOfTrial) return;
  if (await exists(join(root, 'secrets/redis.conf'))) throw new StackError(NOT_OF_A_TRIAL);
  await writeFile(mark, '');
}

const SIGNER_KEYS = [
  'voucher_signer_key',
  'vault_canceller_key',
  'vault_pauser_key',
  'registry_private_key',
];

/**
 * The file of a secret that the operator may set.
 * @throws StackError where there is no secret of this name
 */
export function fileOfSecret(root: string, name: string): string {
  if (SIGNER_KEYS.includes(name)) return join(root, 'signer', name);
  const shares = [...Object.values(SHARES), ...Object.values(TRIAL_SHARES)];
  const files = shares.flatMap((share) => share.map(([file]) => file));
  if (files.includes(name)) return join(root, 'secrets', name);
  const names = [...new Set([...files, ...SIGNER_KEYS])].sort();
  throw new StackError(`There is no secret ${name}; there are ${names.join(', ')}.`);
}

/**
 * Replaces a secret.
 * @throws StackError where the text is not a single line
 */
export async function setSecret(root: string, name: string, text: string): Promise<void> {
  const path = fileOfSecret(root, name);
  const value = text.trim();
  if (value === '' || /[\r\n]/.test(value)) {
    throw new StackError(`${name} is one line, which was not on standard input.`);
  }
  await writeSecret(path, `${value}\n`, SHARED.includes(name));
}

/** Secrets made for a trial only: a real installation gets these keys from the vault's and the partner's owners. */
export function localSecrets(root: string): SecretFile[] {
  return [
    urlFile(root, 'game'),
    {
      path: join(root, 'signer/voucher_signer_key'),
      make: mintPrivateKey,
      lost: 'the vault pays no voucher, because it knows another signer',
    },
    { path: join(root, 'game/partner_api_key'), make: mintHex },
    { path: join(root, 'game/partner_shared_secret'), make: mintHex },
  ];
}

/**
 * Makes the missing files and leaves the others unchanged. `local` also makes the secrets of a trial.
 * @returns the paths of the new files
 * @throws StackError where a key is missing whose loss matters
 */
export async function makeMissing(root: string, kind: 'base' | 'local'): Promise<string[]> {
  const files = kind === 'base' ? baseSecrets(root) : [...baseSecrets(root), ...localSecrets(root)];
  await refuseLostKeys(root, files);
  const made: string[] = [];
  for (const { path, make, shared } of files) {
    if (await exists(path)) continue;
    await writeSecret(path, `${await make()}\n`, shared === true);
    made.push(path);
  }
  return made;
}

/**
 * Refuses to go on without a key that was there before: a new one in its place would do harm that is seen only later.
 * A key was there before if one of its copies is, or if a secret exists that the first start makes with it.
 */
async function refuseLostKeys(root: string, files: readonly SecretFile[]): Promise<void> {
  const keys = files.filter(({ lost }) => lost !== undefined);
  const isThere = await Promise.all(keys.map(({ path }) => exists(path)));
  const missing = keys.filter((_, index) => isThere[index] === false);
  const copies = await Promise.all(missing.map(({ path }) => copiesOf(root, basename(path))));
  const madeAtFirst = ['secrets_key', 'evidence_key', 'redis.conf'];
  const others = await existing(madeAtFirst.map((name) => join(root, 'secrets', name)));
  if (missing.length === 0 || (others.length === 0 && copies.flat().length === 0)) return;
  const sentences = missing.map(({ path, lost = '' }, index) => {
    const name = basename(path);
    const [program] = copies[index] ?? [];
    const copy =
      program === undefined
        ? ''
        : ` ${program} still has a copy: docker compose exec -T ${program} cat /run/lowmark/secrets/${name} | ./lowmark secret set ${name}.`;
    return `${name} is missing, though other secrets of this installation are there. Without it ${lost}. Put it back from where you keep its copy: ./lowmark secret set ${name}.${copy}`;
  });
  throw new StackError(`${sentences.join('\n')}\n${KEY_LOST_FOR_GOOD}`);
}

const KEY_LOST_FOR_GOOD =
  'No key is made in place of one that was lost. Where there was none yet, or it is lost for good, read docs/operating/keys.md ' +
  'first; then set a new one (openssl rand -base64 32).';

/** The programs that have a copy of the secret. */
async function copiesOf(root: string, name: string): Promise<string[]> {
  const programs = Object.keys(SHARES).filter((program) => program !== 'migrate');
  const files = await existing(programs.map((program) => join(root, 'for', program, name)));
  return files.map((file) => basename(dirname(file)));
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const isThere = await Promise.all(paths.map(exists));
  return paths.filter((_, index) => isThere[index]);
}

/** @param isShared whether every user of a container that mounts the file may read it */
async function writeSecret(path: string, text: string | Buffer, isShared: boolean): Promise<void> {
  const unfinished = `${path}.part`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, text, { mode: isShared ? 0o444 : 0o400 });
  await rename(unfinished, path);
}

/** Whether the file exists. @throws where it exists but cannot be read, so that it is not replaced */
export async function exists(path: string): Promise<boolean> {
  try {
    await readFile(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code !== 'EACCES') throw error;
    const file = path.split('/').slice(-2).join('/');
    throw new StackError(
      `${file} cannot be read: ${accessOf(path)}. On the host, make user 1000 its owner (chown), with mode 600.`,
    );
  }
}

function mintHex(): string {
  return randomBytes(32).toString('hex');
}
