/**
 * Checks the pages: links lead to files and headings that exist, a way of links leads from README.md to every page, no
 * sentence has more than 40 words, and each row of a table has the cells of its head. Part of `npm run check`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { marked } from 'marked';

const MOST_WORDS = 40;
const FIRST = 'README.md';

const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  encoding: 'utf8',
});
const paths = listed.split('\n').filter((path) => path !== '' && existsSync(path));
const pages = new Map(paths.map((path) => [path, pageOf(path)]));

const faults = [...pages].flatMap(([path, page]) => [
  ...page.links.filter((link) => !isThere(path, link)).map((link) => `${path}: dead link ${link}`),
  ...page.brokenRows.map((row) => `${path}: not the cells of the table's head: ${row}`),
  ...page.sentences
    .filter((text) => wordsOf(text) > MOST_WORDS)
    .map((text) => `${path}: a sentence of ${wordsOf(text)} words: ${text.slice(0, 90)}…`),
]);
const reached = reachedFrom(FIRST);
faults.push(
  ...paths.filter((path) => !reached.has(path)).map((path) => `${path}: no page links to it`),
);

for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`${paths.length} pages`);

function pageOf(path) {
  const tokens = marked.lexer(readFileSync(path, 'utf8'));
  const page = { links: [], headings: new Set(), sentences: [], brokenRows: [] };
  const seen = new Map();
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') page.links.push(token.href);
    if (token.type === 'heading') page.headings.add(slugOf(plain(token.tokens), seen));
    if (token.type === 'paragraph' || token.type === 'text')
      page.sentences.push(...sentencesOf(token.tokens));
    if (token.type === 'table') {
      const rows = token.raw.trimEnd().split('\n');
      page.brokenRows.push(...rows.filter((row) => cellsOf(row) !== cellsOf(rows[0])));
      const cells = [...token.header, ...token.rows.flat()];
      page.sentences.push(...cells.flatMap((cell) => sentencesOf(cell.tokens)));
    }
  });
  return page;
}

function cellsOf(row) {
  return row.split(/(?<!\\)\|/).length;
}

/** The text without marks; code counts as one word, as a name does. */
function plain(tokens = [], code = (text) => text) {
  return tokens
    .map((token) => {
      if (token.type === 'codespan') return code(token.text);
      if (token.type === 'br') return ' ';
      return token.tokens ? plain(token.tokens, code) : (token.text ?? '');
    })
    .join('');
}

function sentencesOf(tokens) {
  const text = plain(tokens, () => 'CODE').replace(/\s+/g, ' ');
  return text.split(/(?<=[.!?:][)"’”]?) (?=["“(]?[\p{Lu}\d])/u);
}

function wordsOf(text) {
  return text.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** The anchor that GitHub gives to a heading. */
function slugOf(heading, seen) {
  const slug = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function targetOf(path, link) {
  const [file = '', anchor] = link.split('#');
  return { file: file === '' ? path : normalize(join(dirname(path), decodeURI(file))), anchor };
}

function isThere(path, link) {
  if (/^[a-z]+:/.test(link)) return /^https:\/\/|^http:\/\/127\.0\.0\.1|^mailto:/.test(link);
  const { file, anchor } = targetOf(path, link);
  if (!existsSync(file)) return false;
  return anchor === undefined || (pages.get(file)?.headings.has(anchor) ?? false);
}

/** A link to a folder leads to its README.md. */
function reachedFrom(first) {
  const found = new Set();
  const open = [first];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path) || !pages.has(path)) continue;
    found.add(path);
    const files = pages.get(path).links.map((link) => targetOf(path, link).file);
    open.push(...files, ...files.map((file) => join(file, 'README.md')));
  }
  return found;
}
