/** Tests the operators' pages: the names of pages, alerts and settings in them and in sources exist. */
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Chain } from 'viem';
import { abstract, arbitrum, base, bsc, mainnet, polygon, ronin } from 'viem/chains';
import { alertRules, canBeCritical } from '../compose/metrics.js';
import { anchors, links, read } from '../partner-docs/markdown.js';
import { isSettings, shellBlocks } from './machine/shell-blocks.js';

const CHAINS: Readonly<Record<string, Chain>> = {
  ...{ Abstract: abstract, Ronin: ronin, Ethereum: mainnet, Base: base },
  ...{ Arbitrum: arbitrum, Polygon: polygon, BNB: bsc },
};
const HANDBOOK = globSync('docs/operating/*.md');
const SOURCES = globSync([
  '{apps,libs,contracts,deploy,scripts}/**/*.{ts,mjs,yml,yaml,env,sh,bash,conf}',
  'docker-compose{,.backup}.yml',
]);

function isThere(page: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page : join(dirname(page), file);
  if (!existsSync(target)) return false;
  return anchor === undefined || anchors(read(target)).includes(anchor);
}

describe('the handbook', () => {
  it('has what sources name', () => {
    const named = SOURCES.filter((path) => !path.includes('node_modules')).flatMap((path) =>
      [...read(path).matchAll(/docs\/[a-z/-]+\.md(?:#[a-z_-]+)?/g)].map(([link]) => link),
    );
    expect(named.length).toBeGreaterThan(30);
    expect([...new Set(named)].filter((link) => !isThere('README.md', link))).toEqual([]);
  });

  it('names each critical alert on the first day, and no other', () => {
    const critical = alertRules().filter(canBeCritical);
    const [, list = ''] = read('docs/operating/first-day.md').split('The critical ones:');
    const named = [...list.matchAll(/`([A-Z][a-zA-Z]+)`/g)].map(([, name]) => name);
    expect(named.sort()).toEqual(critical.map(({ alert }) => alert).sort());
  });

  it('names each of its pages on the first one', () => {
    const named = links(read('docs/operating/README.md')).map((link) => link.split('#')[0]);
    const missing = HANDBOOK.map((page) => page.slice('docs/operating/'.length)).filter(
      (name) => name !== 'README.md' && !named.includes(name),
    );
    expect(missing).toEqual([]);
  });

  it('sets variables that there are', () => {
    const known = HANDBOOK.map(read).join('\n');
    const blocks = HANDBOOK.flatMap(shellBlocks).filter(isSettings);
    expect(blocks.length).toBeGreaterThan(1);
    // A setting with the suffix `_FILE` names the file that holds a secret.
    const isKnown = (name: string): boolean =>
      [name, name.replace(/_FILE$/, '')].some((one) => known.includes(`\`${one}\``));
    const names = blocks.flatMap(({ code }) => code.match(/^\w+(?==)/gm) ?? []);
    expect(names.filter((name) => !isKnown(name) && !name.startsWith('OTEL_'))).toEqual([]);
  });

  it('names the ids of chains that viem names', () => {
    const [, glance = ''] = read('docs/operating/chains.md').split('## At a glance\n');
    const [table = ''] = glance.split(/^## /m);
    const rows = [...table.matchAll(/^\| (\w+) +\| (\d+) +\|/gm)];
    expect(rows.map(([, chain, id]) => [chain, Number(id)])).toEqual(
      Object.entries(CHAINS).map(([chain, { id }]) => [chain, id]),
    );
  });
});
