/** docs/partners as a module for the pages, rendered once at build time. HTML in the sources is shown as text. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Marked } from 'marked';

const DOCS = join(import.meta.dirname, '../../docs');
const MODULE = 'virtual:partner-docs';
const RESOLVED = `\0${MODULE}`;
/** The first documents of the list; the others follow by name. */
const FIRST = ['README.md', 'quick-start.md', 'api-reference.md', 'signatures.md'];
/**
 * Further documents to which the partners' documents link. A test checks that no link among them is dead, except links
 * to the large openapi.json.
 */
const WIRE = [
  ...['snapshots.md', 'batch.md', 'days.md', 'history.md', 'signature.md', 'message-signatures.md'],
  ...['webhooks.md', 'redemption.md', 'signature-vectors.json', 'message-signature-vectors.json'],
];

export const partnerDocs = {
  name: 'partner-docs',
  resolveId: (id) => (id === MODULE ? RESOLVED : undefined),
  load(id) {
    if (id !== RESOLVED) return undefined;
    for (const { path } of sources()) this.addWatchFile(path);
    return `export const documents = ${JSON.stringify(renderDocuments())};`;
  },
};

/** @returns slug, title, html and sections of each document */
export function renderDocuments() {
  const found = sources();
  const slugs = new Set(found.map(({ slug }) => slug));
  return found.map((source) => render(source, slugs));
}

function sources() {
  const partners = join(DOCS, 'partners');
  const pages = readdirSync(partners).filter((name) => name.endsWith('.md'));
  const others = pages.filter((name) => !FIRST.includes(name)).toSorted();
  const examples = readdirSync(join(partners, 'examples')).toSorted();
  return [
    ...[...FIRST, ...others].map((name) => source(join(partners, name), name.replace(/\.md$/, ''))),
    ...WIRE.map((name) => source(join(DOCS, 'wire', name), `wire-${name.replace(/\.md$/, '')}`)),
    ...examples.map((name) => source(join(partners, 'examples', name), name)),
  ];
}

function source(path, slug) {
  const text = readFileSync(path, 'utf8');
  // An example file becomes a document with one block of code.
  return path.endsWith('.md') ? { path, slug, text } : { path, slug, text: asDocument(path, text) };
}

function asDocument(path, code) {
  return `# ${basename(path)}\n\n\`\`\`\`\`\n${code}\n\`\`\`\`\`\n`;
}

function render({ path, slug, text }, slugs) {
  const sections = [{ anchor: '', title: '', text: '', prose: '' }];
  const used = new Map();
  const marked = new Marked({
    renderer: {
      html: ({ text: raw }) => escape(raw),
      image: ({ text: shown }) => escape(shown),
      heading({ tokens, depth, text: title }) {
        const anchor = anchorOf(title, used);
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const shown = this.parser.parseInline(tokens);
        const to = targetOf(href, { path, slug }, slugs);
        return to === undefined ? shown : `<a href="${escape(to)}"${relOf(to)}>${shown}</a>`;
      },
      code: ({ text: code }) => `<pre tabindex="0"><code>${escape(code)}</code></pre>\n`,
    },
  });
  const tokens = marked.lexer(text);
  const again = new Map();
  for (const token of tokens) {
    if (token.type === 'heading') {
      sections.push({
        anchor: anchorOf(token.text, again),
        title: plain(token.text),
        text: '',
        prose: '',
      });
    } else {
      const section = sections.at(-1);
      const text = `${plain(token.raw)}\n`;
      section.text += text;
      if (token.type !== 'table' && token.type !== 'code') section.prose += text;
    }
  }
  const heading = sections[1]?.title ?? slug;
  // Some wire documents have the same title as a document for partners.
  const title = slug.startsWith('wire-') ? `Wire format: ${heading}` : heading;
  const filled = sections.filter(({ title: has, text: body }) => has !== '' || body.trim() !== '');
  return { slug, title, html: marked.parser(tokens), sections: filled };
}

/** The target of a link within these pages; undefined where these pages do not have the target. */
function targetOf(href, { path, slug }, slugs) {
  if (href.startsWith('#')) return `/partner/docs/${slug}${href}`;
  if (/^https:\/\//.test(href)) return href;
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('//')) return undefined;
  const [file, anchor] = href.split('#', 2);
  const full = join(path, '..', file);
  const inDocs = full.startsWith(join(DOCS, 'wire') + '/')
    ? `wire-${basename(full)}`
    : basename(full);
  const target = inDocs.replace(/\.md$/, '');
  const isHere = full.startsWith(`${DOCS}/partners/`) || full.startsWith(`${DOCS}/wire/`);
  if (!isHere || !slugs.has(target)) return undefined;
  return `/partner/docs/${target}${anchor === undefined ? '' : `#${anchor}`}`;
}

function relOf(to) {
  return to.startsWith('https:') ? ' rel="noreferrer noopener" target="_blank"' : '';
}

/** Makes anchors as GitHub does. */
function anchorOf(title, used) {
  const base = plain(title)
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
  const count = used.get(base) ?? 0;
  used.set(base, count + 1);
  return count === 0 ? base : `${base}-${count}`;
}

function plain(markdown) {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*_|]/g, (mark) => (mark === '_' ? '_' : ''));
}

function escape(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => entities[character]);
}
