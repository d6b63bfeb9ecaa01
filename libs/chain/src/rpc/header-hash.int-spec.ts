/** Headers of a real chain, in each form that an upgrade gave them. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type DevChain, type DevChainOptions, launchDevChain } from '#libs/devchain';
import { hashesToItself } from '../blocks/header.js';

type Block = Record<string, unknown>;

describe('the hash of a header', () => {
  const chains: DevChain[] = [];
  afterEach(async () => {
    await Promise.all(chains.splice(0).map((chain) => chain.stop()));
  });

  async function aBlock(hardfork?: DevChainOptions['hardfork']): Promise<Block> {
    const chain = await launchDevChain({
      genesisSeconds: 1_760_000_000,
      ...(hardfork && { hardfork }),
    });
    chains.push(chain);
    await chain.rpc.call('evm_mine');
    return chain.rpc.call<Block>('eth_getBlockByNumber', 'latest', false);
  }

  it.each(['london', 'shanghai', 'cancun', 'prague'] as const)(
    'is that of its fields since %s',
    async (hardfork) => {
      expect(hashesToItself(await aBlock(hardfork))).toBe(true);
    },
  );

  it('is that of no other fields', async () => {
    const block = await aBlock();
    const plusOne = (value: unknown) => `0x${(BigInt(value as string) + 1n).toString(16)}`;
    for (const field of ['number', 'timestamp', 'gasUsed', 'baseFeePerGas', 'blobGasUsed']) {
      expect(hashesToItself({ ...block, [field]: plusOne(block[field]) })).toBe(false);
    }
    const other = `0x${'ab'.repeat(32)}`;
    for (const field of ['hash', 'parentHash', 'stateRoot', 'withdrawalsRoot', 'requestsHash']) {
      expect(hashesToItself({ ...block, [field]: other })).toBe(false);
    }
  });

  it('is not that of a header with fields that are missing or odd', async () => {
    const block = await aBlock();
    const isBeside = /^(size|totalDifficulty|transactions|uncles|withdrawals)$/;
    // These fields are zero, which is encoded like a field that the chain does not use.
    const isZero = /^(baseFeePerGas|blobGasUsed|excessBlobGas)$/;
    const unneeded = Object.keys(block).filter((field) =>
      hashesToItself({ ...block, [field]: undefined }),
    );
    expect(unneeded.filter((field) => !isBeside.test(field) && !isZero.test(field))).toEqual([]);
    for (const odd of [null, [], 'block', { ...block, number: 7 }, { ...block, nonce: '0x1' }]) {
      expect(hashesToItself(odd)).toBe(false);
    }
  });
});
