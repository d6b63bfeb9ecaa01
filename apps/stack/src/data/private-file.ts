import { readFile, rename, writeFile } from 'node:fs/promises';
import { StackError } from '../stack.error.js';

/** Writes JSON that only its owner can read; the file is complete or not touched. */
export async function writePrivateJson(path: string, value: unknown): Promise<void> {
  const unfinished = `${path}.part`;
  await writeFile(unfinished, JSON.stringify(value, null, 2) + '\n', { mode: 0o600 });
  await rename(unfinished, path);
}

/** The parsed file, or undefined where there is none. */
export async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StackError(`${path} is damaged; start over with: npm start -- --fresh`, { cause });
  }
}
