/** Parses the partners' pages: links, headings, code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const PAGES_FOLDER = 'docs/partners';

/** Paths from the repository's root. */
export function pages(): string[] {
  return readdirSync(PAGES_FOLDER)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(PAGES_FOLDER, name));
}

export function read(page: string): string {
  return readFileSync(page, 'utf8');
}

export interface CodeBlock {
  readonly language: string;
  /** The text after the language, such as `server.ts`. */
  readonly title: string;
  readonly code: string;
}

const BLOCK = /^ *```(\w*)[ \t]*(.*)\n([\s\S]*?)^ *```$/gm;

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(BLOCK)].map(([, language = '', title = '', code = '']) => ({
    language,
    title,
    code,
  }));
}

/** The targets of all links outside code. */
export function links(markdown: string): string[] {
  const prose = markdown.replace(BLOCK, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** The anchors that GitHub gives to the headings. */
export function anchors(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...markdown.replace(BLOCK, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}
