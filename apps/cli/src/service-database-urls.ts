import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseUrl, type SettingOptions } from '#libs/config';
import { type LoginUrls, PROGRAMS } from '#libs/db';

const fileOf = (program: string): string => `${program}_database_url`;

/** SERVICE_DATABASE_URLS, of `migrate` and the commands `index …`. */
export const SERVICE_DATABASE_URLS_SETTING: SettingOptions = {
  description: `For \`migrate\`: a folder with the DATABASE_URL of each service, in ${fileOf('api')} and so on: it makes their users and gives each the rights of its service (docs/operating/install.md). Unset: all users are left as they are.`,
  optional: true,
  example: '/run/lowmark/secrets',
  parse: serviceDatabaseUrls,
};

/**
 * The database URLs of the services, from the files of a folder. Other files in it are ignored.
 * @throws Error that names the path of what is wrong, and never the content
 */
export function serviceDatabaseUrls(folder: string): LoginUrls {
  const names = namesIn(folder);
  const given = PROGRAMS.filter((program) => names.includes(fileOf(program)));
  if (given.length === 0) {
    throw new Error(`must be a folder with files such as ${fileOf('api')}; ${folder} has none`);
  }
  return Object.fromEntries(
    given.map((program) => [program, urlIn(join(folder, fileOf(program)))]),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    throw new Error(`must be a folder that can be read; ${folder} is not`, { cause });
  }
}

function urlIn(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`has ${path}, which cannot be read`, { cause });
  }
  try {
    return databaseUrl(text.replace(/\r?\n$/, ''));
  } catch (error) {
    throw new Error(`has ${path}, which ${(error as Error).message}`, { cause: error });
  }
}
