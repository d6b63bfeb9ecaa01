import { describe, expect, it } from '@jest/globals';
import { excerptOf, searchOf } from './search-documents.js';

const section = (anchor: string, text: string) => ({ anchor, title: anchor, text, prose: text });
const aDocument = (slug: string, texts: readonly string[]) => ({
  ...{ slug, title: slug, html: '' },
  sections: texts.map((text, place) => section(`part-${place}`, text)),
});

describe('the search of the documentation', () => {
  it('finds words by their beginning, and none that only looks alike', () => {
    const search = searchOf([aDocument('once', ['It is done once.', 'Each has a nonce.'])]);
    expect(search('nonce').places.map(({ anchor }) => anchor)).toEqual(['part-1']);
    expect(search('non').count).toBe(1);
    expect(search('xyzzy')).toEqual({ count: 0, places: [] });
  });

  it('counts what it does not show', () => {
    const many = aDocument(
      'many',
      Array.from({ length: 30 }, () => 'a signature'),
    );
    const { count, places } = searchOf([many])('signature');
    expect({ count, shown: places.length }).toEqual({ count: 30, shown: 12 });
  });

  it('begins with what explains the word, and with one place of each document', () => {
    const table = { ...section('Errors', 'X-API-SIGNATURE X-API-SIGNATURE is wrong'), prose: '' };
    const documents = [
      { ...aDocument('api-reference', []), sections: [table, table, table] },
      aDocument('signatures', ['Each answer has X-API-SIGNATURE.', 'X-API-SIGNATURE is in hex.']),
    ];
    const { places } = searchOf(documents.slice(1))('X-API-SIGNATURE');
    expect(places).toHaveLength(2);
    const [reference, ...others] = documents;
    const once = { ...reference, sections: [table] } as (typeof documents)[number];
    const slugs = searchOf([once, ...others])('X-API-SIGNATURE').places.map(({ slug }) => slug);
    expect(slugs).toEqual(['signatures', 'api-reference', 'signatures']);
  });

  it('shows the words where they stand', () => {
    const text = `${'before '.repeat(30)}the X-API-SIGNATURE of it${' after'.repeat(30)}`;
    const [place] = searchOf([aDocument('one', [text])])('X-API-SIGNATURE').places;
    expect(place?.excerpt).toContain('the X-API-SIGNATURE of it');
    expect(place?.excerpt).toMatch(/^….*…$/);
  });
});

describe('an excerpt', () => {
  it('is taken from where a word begins with it', () => {
    expect(excerptOf('It happens once. The nonce is random.', ['nonce'])).toContain('The nonce');
    const text = `denounce ${'x '.repeat(100)}nonce`;
    expect(excerptOf(text, ['nonce'])).toMatch(/nonce$/);
  });

  it('is the beginning where none of them is in the text', () => {
    expect(excerptOf('Short.', ['absent'])).toBe('Short.');
  });
});
