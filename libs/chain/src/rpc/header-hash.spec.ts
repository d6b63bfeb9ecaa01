import { describe, expect, it } from '@jest/globals';
import { hashesToItself } from '../blocks/header.js';

const ZERO_HASH = `0x${'0'.repeat(64)}`;

/** The first block of Ethereum: its fields and its hash are in the appendix of the Yellow Paper and in every client. */
const GENESIS = {
  number: '0x0',
  hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  parentHash: ZERO_HASH,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: `0x${'0'.repeat(40)}`,
  stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
  transactionsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  receiptsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  logsBloom: `0x${'0'.repeat(512)}`,
  difficulty: '0x400000000',
  gasLimit: '0x1388',
  gasUsed: '0x0',
  timestamp: '0x0',
  extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
  mixHash: ZERO_HASH,
  nonce: '0x0000000000000042',
};

describe('the hash of the first header of Ethereum', () => {
  it('is that of its fields, whatever a node tells beside them', () => {
    expect(hashesToItself(GENESIS)).toBe(true);
    const more = { size: '0x21c', totalDifficulty: '0x400000000', l1BlockNumber: '0x1' };
    expect(hashesToItself({ ...GENESIS, ...more, requestsHash: null })).toBe(true);
  });

  it('is not that of a header with one more field', () => {
    expect(hashesToItself({ ...GENESIS, baseFeePerGas: '0x7' })).toBe(false);
    expect(hashesToItself({ ...GENESIS, slotNumber: '0x7' })).toBe(false);
  });
});
