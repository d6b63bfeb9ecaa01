import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { DOC_TABLES, DOCS_FILE, withTables } from './report.js';

describe('the tables of docs/performance.md', () => {
  it('stand between the markers of the benchmarks that write them', () => {
    const text = readFileSync(DOCS_FILE, 'utf8');
    const markers = [...text.matchAll(/<!-- (\/?bench:[^ ]*) -->/g)].map(([, marker]) => marker);
    const expected = DOC_TABLES.flatMap((name) => [`bench:${name}`, `/bench:${name}`]);
    expect(markers.toSorted()).toEqual(expected.toSorted());
    for (const name of DOC_TABLES) expect(() => withTables(text, name, [])).not.toThrow();
    const between = /<!-- bench:(\S+) -->[\s\S]*?<!-- \/bench:\1 -->/g;
    // Every table is one that a benchmark writes.
    expect(text.replaceAll(between, '')).not.toMatch(/^\|/m);
  });

  it('are replaced between their markers, and nowhere else', () => {
    const text = 'a\n<!-- bench:size -->\nold\n<!-- /bench:size -->\nz';
    const next = 'a\n<!-- bench:size -->\n\n| new |\n\nat\n\n<!-- /bench:size -->\nz';
    expect(withTables(text, 'size', ['| new |', 'at'])).toBe(next);
    expect(withTables(next, 'size', ['| new |', 'at'])).toBe(next);
    expect(() => withTables(text, 'days', [])).toThrow('has no <!-- bench:days -->');
  });
});
