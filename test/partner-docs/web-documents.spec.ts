/** Tests the documents on the pages for partners: every link is kept and has a target. */
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { links, read } from './markdown.js';

interface WebDocument {
  readonly slug: string;
  readonly html: string;
}
const builder = '../../apps/web/partner-docs.mjs';
const { renderDocuments } = (await import(builder)) as { renderDocuments: () => WebDocument[] };

const documents = renderDocuments();
const shown = documents.filter(({ slug }) => !slug.includes('.'));
/** Larger than all pages together, so this file is in the repository only. */
const ONLY_NAMED = /openapi\.json$/;

const sourceOf = (slug: string): string =>
  slug.startsWith('wire-')
    ? `docs/wire/${slug.slice('wire-'.length)}.md`
    : `docs/partners/${slug}.md`;

describe.each(shown)('$slug on the pages for partners', ({ slug, html }) => {
  it('has every document and section that it links to', () => {
    const source = sourceOf(slug);
    const missing = links(read(source)).filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const path = file === '' ? source : join(dirname(source), file);
      if (!/^docs\/(partners|wire)\//.test(path) || ONLY_NAMED.test(path)) return false;
      const target = documents.find((one) => pathsOf(one.slug).includes(path));
      if (target === undefined) return true;
      const href = `/partner/docs/${target.slug}${anchor === undefined ? '' : `#${anchor}`}`;
      const hasSection = anchor === undefined || target.html.includes(`id="${anchor}"`);
      return !hasSection || !html.includes(`href="${href}"`);
    });
    expect(missing).toEqual([]);
  });
});

function pathsOf(slug: string): string[] {
  if (!slug.includes('.')) return [sourceOf(slug)];
  return [`docs/partners/examples/${slug}`, `docs/wire/${slug.replace(/^wire-/, '')}`];
}
