import { describe, expect, it } from '@jest/globals';
import { type Chain } from 'viem';
import * as chains from 'viem/chains';
import { UNIVERSAL_VERIFIERS } from './wallet-signatures.js';

describe('the universal verifiers', () => {
  it('are those of viem’s chain definitions', () => {
    const named = Object.values(chains as unknown as Record<string, Chain>).flatMap(
      ({ id, contracts }) => {
        const verifier = contracts?.erc6492Verifier?.address;
        return verifier === undefined ? [] : [[id, verifier.toLowerCase()] as const];
      },
    );
    expect(new Map(named).size).toBeGreaterThan(0);
    expect(new Map(named)).toEqual(new Map(UNIVERSAL_VERIFIERS));
  });
});
