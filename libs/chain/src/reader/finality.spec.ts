import { describe, expect, it } from '@jest/globals';
import { parseFinality } from './final-blocks.js';

describe('FINALITY', () => {
  it('is a tag or a depth', () => {
    expect(parseFinality('finalized')).toEqual({ kind: 'tag', tag: 'finalized' });
    expect(parseFinality('safe')).toEqual({ kind: 'tag', tag: 'safe' });
    expect(parseFinality('depth:12')).toEqual({ kind: 'depth', blocks: 12n });
    expect(() => parseFinality('depth:-1')).toThrow(/FINALITY must be/);
  });
});
