/** Tests the page on the cost of each compromise against the specs, settings, alerts and contract that it names. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const read = (path: string): string => readFileSync(path, 'utf8');
const PAGE = read('docs/security.md');
const COSTS = PAGE.split(/^## /m).find((part) => part.startsWith('What each compromise costs'));
const HEAD = ['compromised', 'costs at most', 'bounded by', 'noticed by', 'shown by'];

interface Row {
  readonly compromised: string;
  readonly cells: readonly string[];
  readonly shownBy: string;
}

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
const tables = (COSTS ?? '').split(/^### /m).slice(1);
const lines = tables.flatMap((table) => table.split('\n').filter((one) => one.startsWith('|')));
const rows = lines
  .map(cellsOf)
  .filter(([first = '']) => first !== HEAD[0] && !/^-+$/.test(first))
  .map((cells): Row => ({ compromised: cells[0] ?? '', cells, shownBy: cells.at(-1) ?? '' }));

/** Each named spec, with the test titles in parentheses after it. */
const specs = rows.flatMap(({ shownBy }) =>
  [...shownBy.matchAll(/`([^`]+\.ts)`(?: \(([^)]+)\))?/g)].map(([, path = '', titles = '']) => ({
    path,
    titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
  })),
);
const named = (pattern: RegExp): string[] => [
  ...new Set([...PAGE.matchAll(pattern)].map(([, name = '']) => name)),
];

describe('docs/security.md', () => {
  it('has tables of one form, with every cost said', () => {
    expect(tables.length).toBeGreaterThan(4);
    expect(rows.length).toBeGreaterThan(30);
    for (const table of tables) {
      const head = table.split('\n').find((line) => line.startsWith('|')) ?? '';
      expect(cellsOf(head)).toEqual(HEAD);
    }
    for (const { cells } of rows) {
      expect(cells).toHaveLength(HEAD.length);
      expect(cells[1]).not.toBe('');
    }
  });

  it.each(rows)('names a spec for "$compromised", by titles of it', ({ shownBy }) => {
    expect(shownBy).toMatch(/spec\.ts` \("/);
    expect(shownBy).not.toMatch(/\bno spec\b/i);
  });

  it.each(specs)('names $path with titles that it has', ({ path, titles }) => {
    expect({ path, isThere: existsSync(path) }).toEqual({ path, isThere: true });
    expect(path).toMatch(/[.-]spec\.ts$/);
    const missing = titles.filter((title) => !read(path).includes(title));
    expect(missing).toEqual([]);
  });

  it('names settings that there are', () => {
    const settings = read('docs/operating/settings.md');
    const compose = read('docs/operating/compose.md');
    const names = named(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g);
    expect(names.length).toBeGreaterThan(20);
    const unknown = names.filter(
      (name) =>
        !settings.includes(`- \`${name}\` (`) && !new RegExp(`\`${name}[=\`]`).test(compose),
    );
    expect(unknown).toEqual([]);
  });

  it('names alerts that there are', () => {
    const links = [...PAGE.matchAll(/\[(\w+)\]\(operating\/alerts\.md#(\w+)\)/g)];
    expect(links.length).toBeGreaterThan(20);
    const rules = read('deploy/prometheus/rules.yml');
    for (const [, alert = '', anchor] of links) {
      expect(rules).toContain(`- alert: ${alert}\n`);
      expect(anchor).toBe(alert.toLowerCase());
    }
    const codes = read('docs/operating/redemption.md');
    const told = named(/`([a-z]+(?:-[a-z]+)+)`/g);
    expect(told).toContain('sign-in-disagreement');
    expect(told.filter((code) => !codes.includes(`\`${code}\``))).toEqual([]);
  });

  it('names parts of the vault that there are', () => {
    const vault = globSync(
      'node_modules/@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol',
    )
      .concat('contracts/src/RedemptionVault.sol')
      .map(read)
      .join('\n');
    const names = named(/`(window[A-Z]\w+|maxTtl\w+|defaultAdmin\w+|unpause)`/g);
    expect(names.length).toBeGreaterThan(4);
    expect(names.filter((name) => !vault.includes(name))).toEqual([]);
  });

  it('names options of partners that there are', () => {
    const commands = globSync('apps/cli/src/**/*.ts').map(read).join('\n');
    const options = named(/`partner set (--[a-z-]+)`/g);
    expect(options.sort()).toEqual(['--daily-token-budget', '--rate']);
    expect(options.filter((option) => !commands.includes(option))).toEqual([]);
  });
});
