import { join } from 'node:path';
import { DatabaseUrl } from '#libs/platform';
import { StackError } from '../stack.error.js';
import { exists, firstLine, PROGRAMS } from './secret-files.js';

/**
 * Checks that all programs use the owner's server. A program keeps the URL that was derived from an earlier
 * `database_url`, and would go on with the earlier server. Where a URL leads to a pooler, the direct URL beside it is
 * compared.
 * @throws StackError where a program's URL leads to another server than the owner's, which migrates the schema
 */
export async function requireOneServer(root: string): Promise<void> {
  const own = await serverOf(root, '');
  const others: string[] = [];
  for (const program of PROGRAMS) {
    const { file, server } = await serverOf(root, `${program}_`);
    if (server !== own.server) others.push(`${file} (${server})`);
  }
  if (others.length === 0) return;
  throw new StackError(
    `${own.file} leads to ${own.server}, and these lead to another server: ${others.join(', ')}. Remove each ` +
      '…_database_url of them from the folder of the secrets, and it is made for that server; or name its host in it.',
  );
}

async function serverOf(root: string, prefix: string): Promise<{ file: string; server: string }> {
  const direct = `${prefix}database_direct_url`;
  const isPooled = await exists(join(root, 'secrets', direct));
  const file = isPooled ? direct : `${prefix}database_url`;
  return { file, server: parsed(file, await firstLine(join(root, 'secrets', file))).server };
}

/** @throws StackError that names the file */
function parsed(file: string, text: string): DatabaseUrl {
  try {
    return DatabaseUrl.parse(text);
  } catch (cause) {
    throw new StackError(`${file} ${(cause as Error).message}`, { cause });
  }
}
