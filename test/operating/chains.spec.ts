/** Tests the page about chains against viem's definitions. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type Chain } from 'viem';
import { abstract, arbitrum, base, bsc, mainnet, polygon, ronin } from 'viem/chains';

const PAGE = readFileSync('docs/operating/chains.md', 'utf8');
const CHAINS: Readonly<Record<string, Chain>> = {
  Abstract: abstract,
  Ronin: ronin,
  Ethereum: mainnet,
  Base: base,
  Arbitrum: arbitrum,
  Polygon: polygon,
  BNB: bsc,
};

/** The rows of the table below a heading, without the table's header. */
function rows(heading: string): string[][] {
  const section = PAGE.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

describe('docs/operating/chains.md', () => {
  it('names the ids that viem names', () => {
    const named = rows('At a glance').map(([chain = '', id]) => [chain, Number(id)]);
    expect(named).toEqual(Object.entries(CHAINS).map(([chain, { id }]) => [chain, id]));
  });
});
