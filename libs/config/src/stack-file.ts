import { readFileSync } from 'node:fs';
import { type SettingsSource } from './read-settings.js';

/** Where `npm start` leaves the addresses and keys of the stack it runs, readable by its owner only. */
export const STACK_FILE = '.data/stack.json';

/**
 * The environment; where it names no database, that of the stack which runs in this clone, with the keys that belong to it.
 * A database and the keys of its secrets go together, so either both come from the environment or both from the stack.
 */
export function environmentOrStack(
  environment: SettingsSource = process.env,
  path = STACK_FILE,
): SettingsSource {
  if (environment['DATABASE_URL'] || environment['DATABASE_URL_FILE']) return environment;
  const stack = readStack(path);
  if (stack === undefined) return environment;
  return {
    ...environment,
    DATABASE_URL: stack.databaseUrl,
    SECRETS_KEY: stack.secretsKey,
    SECRETS_KEY_FILE: undefined,
  };
}

function readStack(path: string): { databaseUrl?: string; secretsKey?: string } | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return JSON.parse(text) as { databaseUrl?: string; secretsKey?: string };
}
