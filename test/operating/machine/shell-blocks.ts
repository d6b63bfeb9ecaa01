/** The shell blocks of the pages, as readers copy them. */
import { readdirSync } from 'node:fs';
import { read } from '../../partner-docs/markdown.js';

export interface ShellBlock {
  readonly page: string;
  /** Line number of the block's first line. */
  readonly line: number;
  readonly code: string;
}

/** The pages whose commands must run. */
export const OPERATING_PAGES = pagesIn('docs/operating');
export const PAGES = ['README.md', ...OPERATING_PAGES, ...pagesIn('docs/partners')];

function pagesIn(folder: string): string[] {
  const pages = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return pages.map((name) => `${folder}/${name}`);
}

export function shellBlocks(page: string): ShellBlock[] {
  return blocksOf(page, 'sh|bash|shell|console');
}

/** The SQL blocks of a page, as psql commands of the database's owner. */
export function sqlBlocks(page: string): ShellBlock[] {
  return blocksOf(page, 'sql').map(({ code, ...place }) => ({
    ...place,
    code: `psql "$DATABASE_URL" -qX -v ON_ERROR_STOP=1 <<'SQL'\n${code}SQL\n`,
  }));
}

function blocksOf(page: string, languages: string): ShellBlock[] {
  const text = read(page);
  const pattern = new RegExp(`^( *)\`\`\`(?:${languages})\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm');
  return [...text.matchAll(pattern)].map((block) => {
    const [, indent = '', code = ''] = block;
    const line = text.slice(0, block.index).split('\n').length + 1;
    return { page, line, code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), '') };
  });
}

/** Whether a block is the content of an `.env` file: it has only assignments, and no command after them. */
export function isSettings({ code }: ShellBlock): boolean {
  return code
    .trim()
    .split('\n')
    .every((line) => /^[A-Z][A-Z0-9_]*=(?:\S+|"[^"]*")$/.test(line));
}
