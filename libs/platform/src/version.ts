import { readFileSync } from 'node:fs';

/** The version of this build: that of the nearest package.json above this file. */
export function version(): string {
  for (let folder = new URL('./', import.meta.url); ; folder = new URL('../', folder)) {
    try {
      const text = readFileSync(new URL('package.json', folder), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch (cause) {
      if (new URL('../', folder).href === folder.href) {
        throw new Error('no package.json above the program', { cause });
      }
    }
  }
}
