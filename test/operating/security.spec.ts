/** Tests that the settings, alerts and parts of the contract that docs/security.md names exist, and specs for its bounds. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SHOWN_BY } from './shown-by.js';

const read = (path: string): string => readFileSync(path, 'utf8');
const PAGE = read('docs/security.md');
const named = (pattern: RegExp): string[] => [
  ...new Set([...PAGE.matchAll(pattern)].map(([, name = '']) => name)),
];

describe('docs/security.md', () => {
  it('has a spec that shows the bound of each compromise', () => {
    const tables = PAGE.slice(PAGE.indexOf('## What each compromise costs at most'));
    const compromises = [...tables.matchAll(/^\| (?!compromised|-)(.*?) +\|/gm)].map(
      ([, one]) => one,
    );
    expect(compromises.length).toBeGreaterThan(50);
    expect(compromises.toSorted()).toEqual(Object.keys(SHOWN_BY).toSorted());
    for (const specs of Object.values(SHOWN_BY)) expect(specs.length).toBeGreaterThan(0);
    expect(
      Object.values(SHOWN_BY)
        .flat()
        .filter((path) => !existsSync(path)),
    ).toEqual([]);
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
