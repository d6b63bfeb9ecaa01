import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { PARTNER_CAPABILITIES, PARTNER_ERROR_CODES } from '#libs/domain';
import { codeBlocks, links, pages, read } from './markdown.js';

describe.each(pages())('%s', (page) => {
  it('has JSON that is JSON', () => {
    for (const { language, code } of codeBlocks(read(page))) {
      if (language === 'json') expect(() => JSON.parse(code) as unknown).not.toThrow();
    }
  });

  it('shows code of the examples as it is in them', () => {
    for (const { title, code } of codeBlocks(read(page))) {
      const [, file] = /^from (\S+)$/.exec(title) ?? [];
      if (file !== undefined) expect(read(`docs/partners/examples/${file}`)).toContain(code);
    }
  });

  it('is linked from the first page', () => {
    const name = page.split('/').at(-1) ?? '';
    if (name !== 'README.md') expect(links(read('docs/partners/README.md'))).toContain(name);
  });
});

describe('the API reference', () => {
  it('says of the staking API what openapi.json says', () => {
    const check = (): string =>
      execFileSync(process.execPath, ['scripts/api-reference.mjs', '--check'], {
        stdio: 'pipe',
      }).toString('utf8');
    expect(check).not.toThrow();
  });

  it('has every error code and capability that there is, and no other', () => {
    const page = read('docs/partners/api-reference.md');
    const codes = new Set([...page.matchAll(/ERR-[A-Z-]+[A-Z]/g)].map(([code]) => code));
    expect([...codes].sort()).toEqual([...PARTNER_ERROR_CODES].sort());
    const table = page.slice(page.indexOf('### Capabilities'));
    const named = [...table.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual([...PARTNER_CAPABILITIES].sort());
  });
});

describe('the changes', () => {
  it('begin with the version that the API sends', () => {
    const openApi = JSON.parse(readFileSync('docs/wire/openapi.json', 'utf8')) as {
      info: { version: string };
    };
    const [newest] =
      /^- (.*?): /m
        .exec(read('docs/partners/README.md').split('## Changes of the contract')[1] ?? '')
        ?.slice(1) ?? [];
    expect(newest).toBe(openApi.info.version);
  });
});
