/** The shell blocks of the pages, as their readers copy them. */
import { readdirSync } from 'node:fs';
import { read } from '../../partner-docs/markdown.js';

export interface ShellBlock {
  readonly page: string;
  /** Of its first line. */
  readonly line: number;
  readonly code: string;
}

/** The pages whose commands must run. */
export const PAGES = ['README.md', ...pagesIn('docs/operating'), ...pagesIn('docs/partners')];

function pagesIn(folder: string): string[] {
  const pages = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return pages.map((name) => `${folder}/${name}`);
}

export function shellBlocks(page: string): ShellBlock[] {
  const text = read(page);
  return [...text.matchAll(/^( *)```(?:sh|bash|shell|console)\n([\s\S]*?)^ *```$/gm)].map(
    (block) => {
      const [, indent = '', code = ''] = block;
      const line = text.slice(0, block.index).split('\n').length + 1;
      return { page, line, code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), '') };
    },
  );
}

/** A block that is the content of an `.env` file: assignments only, which no program follows. */
export function isSettings({ code }: ShellBlock): boolean {
  return code
    .trim()
    .split('\n')
    .every((line) => /^[A-Z][A-Z0-9_]*=(?:\S+|"[^"]*")$/.test(line));
}
