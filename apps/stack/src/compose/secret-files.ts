import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mintPrivateKey } from '#libs/devchain';
import { mintSecretsKey } from '#libs/signing';

/** A secret as a file: where, and how it is made where it is missing. */
interface SecretFile {
  readonly path: string;
  readonly make: () => string | Promise<string>;
  /** Readable by every user of the container that mounts it: PostgreSQL runs under another one than we do. */
  readonly shared?: true;
}

/** What every installation needs. */
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
    { path: join(root, 'secrets/secrets_key'), make: () => mintSecretsKey().toString('base64') },
    { path: join(root, 'secrets/api_anon_secret'), make: mintHex },
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
