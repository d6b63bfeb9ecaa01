/**
 * Tests the page about chains against viem's definitions, its own figures, and the rule that each fact has a source.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type Chain } from 'viem';
import { abstract, arbitrum, base, bsc, mainnet, polygon, ronin } from 'viem/chains';

const PAGE = readFileSync('docs/operating/chains.md', 'utf8');
const SECONDS_A_YEAR = 31_536_000;
const [GET_LOGS, HEADER] = [75, 16];
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

  it('names the contracts that viem names', () => {
    const expected = Object.values(CHAINS).map(({ id, contracts }) => [
      String(id),
      `\`${contracts?.multicall3?.address ?? ''}\``,
      contracts?.erc6492Verifier ? `\`${contracts.erc6492Verifier.address}\`` : 'none',
    ]);
    expect(rows('Contracts')).toEqual(expected);
  });

  it('counts the cost from the block time that it names', () => {
    const millions = (units: number, digits: number): string => (units / 1e6).toFixed(digits);
    const expected = rows('At a glance').map(([chain, , time]) => {
      const blocks = SECONDS_A_YEAR / Number.parseFloat(time ?? '');
      const calls = (range: number): number => Math.ceil(blocks / range);
      const units = (range: number): string => millions(calls(range) * (GET_LOGS + HEADER), 2);
      const counted = [String(calls(10_000)), units(10_000), units(2000)];
      return [chain, millions(blocks, 2), ...counted];
    });
    expect(rows('What a first sync costs')).toEqual(expected);
  });

  it.each(['All chains', ...Object.keys(CHAINS)])('gives each fact of %s its source', (heading) => {
    const facts = rows(heading);
    expect(facts.length).toBeGreaterThan(2);
    for (const [what, fact = '', source = ''] of facts) {
      const isSourced = source.includes('](https://') || /^not found/.test(fact);
      expect({ what, isSourced }).toEqual({ what, isSourced: true });
    }
  });
});
