import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mintPrivateKey } from '#libs/devchain';
import { mintSecretsKey } from '#libs/signing';
import { StackError } from '../stack.error.js';

/** A secret as a file: where, and how it is made where it is missing. */
interface SecretFile {
  readonly path: string;
  readonly make: () => string | Promise<string>;
  /** Readable by every user of the container that mounts it: PostgreSQL runs under another one than we do. */
  readonly shared?: true;
}

const KEY_LOST =
  'secrets_key is missing, though api_anon_secret is there. Put it back from where you keep its copy: without it no ' +
  'partner’s secret can be read. Where there is none yet, or it is lost for good: openssl rand -base64 32 makes a new one.';

/** What every installation needs. */
export function baseSecrets(root: string): SecretFile[] {
  const passwordFile = join(root, 'secrets/postgres_password');
  const anonFile = join(root, 'secrets/api_anon_secret');
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
      make: async () => {
        // Made last of all: where it is, this folder has been in use, and a new key would open nothing of the database.
        if (await exists(anonFile)) throw new StackError(KEY_LOST);
        return mintSecretsKey().toString('base64');
      },
    },
    { path: anonFile, make: mintHex },
  ];
}

/** What only the `local` profile may make up: elsewhere these are keys to other people's things. */
export function localSecrets(root: string): SecretFile[] {
  return [
    { path: join(root, 'signer/voucher_signer_key'), make: mintPrivateKey },
    { path: join(root, 'game/partner_api_key'), make: mintHex },
    { path: join(root, 'game/partner_shared_secret'), make: mintHex },
  ];
}

/**
 * Makes the files that are missing and touches no other.
 * @returns the paths of those that were made
 */
export async function makeMissing(files: readonly SecretFile[]): Promise<string[]> {
  const made: string[] = [];
  for (const { path, make, shared } of files) {
    if (await exists(path)) continue;
    const unfinished = `${path}.part`;
    await writeFile(unfinished, `${await make()}\n`, { mode: shared === true ? 0o444 : 0o400 });
    await rename(unfinished, path);
    made.push(path);
  }
  return made;
}

/** Whether it is there; one that is there but cannot be read stops everything, rather than be replaced. */
async function exists(path: string): Promise<boolean> {
  try {
    await readFile(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function mintHex(): string {
  return randomBytes(32).toString('hex');
}
