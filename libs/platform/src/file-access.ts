import { statSync } from 'node:fs';

/** Says who may read a file that this process may not: its owner, its mode, and the user of this process. */
export function accessOf(path: string): string {
  const user = `this program runs as user ${process.geteuid?.() ?? 'unknown'}`;
  try {
    const { uid, mode } = statSync(path);
    return `it belongs to user ${uid} with mode ${(mode & 0o777).toString(8)}, and ${user}`;
  } catch {
    return `it lies in a folder that may not be read, and ${user}`;
  }
}
