import { describe, expect, it } from '@jest/globals';
import { toFunctionSelector } from 'viem';
import { parseFinality } from './finality.js';
import { balanceViews, totalViews } from './stake-view.js';

describe('the contract’s own figures', () => {
  it('are tried under the usual names, or the one that is set, or not at all', () => {
    expect(totalViews({}).map(({ name }) => name)).toEqual(['totalStaked', 'totalSupply']);
    expect(balanceViews({})).toEqual([
      { name: 'balanceOf', selector: toFunctionSelector('balanceOf(address)') },
    ]);
    expect(
      totalViews({ totalView: 'function poolTotal() external view returns (uint128 total)' }),
    ).toEqual([{ name: 'poolTotal', selector: toFunctionSelector('poolTotal()') }]);
    expect(totalViews({ totalView: 'none' })).toEqual([]);
    expect(balanceViews({ balanceView: 'none' })).toEqual([]);
  });

  it.each([
    ['totalStaked()', /STAKE_TOTAL_VIEW: "totalStaked\(\)" is not a function signature/],
    ['event E(uint256 a)', /is not a function/],
    ['function f(address) view returns (uint256)', /f must take no arguments/],
    ['function f() view', /must return one unsigned integer/],
    ['function f() view returns (uint256, uint256)', /must return one unsigned integer/],
  ])('refuse %s', (totalView, reason) => {
    expect(() => totalViews({ totalView })).toThrow(reason);
  });

  it('a balance needs the wallet', () => {
    const balanceView = 'function f() view returns (uint256)';
    expect(() => balanceViews({ balanceView })).toThrow(
      'STAKE_BALANCE_VIEW: f must take (address)',
    );
  });
});

describe('FINALITY', () => {
  it('is a tag or a depth', () => {
    expect(parseFinality('finalized')).toEqual({ kind: 'tag', tag: 'finalized' });
    expect(parseFinality('safe')).toEqual({ kind: 'tag', tag: 'safe' });
    expect(parseFinality('depth:12')).toEqual({ kind: 'depth', blocks: 12n });
    expect(() => parseFinality('depth:-1')).toThrow(/FINALITY must be/);
  });
});
