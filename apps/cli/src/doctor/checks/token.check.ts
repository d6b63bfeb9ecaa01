import { ChainReader } from '#libs/chain';
import { PermanentError } from '#libs/domain';
import { type Check } from '../check.js';
import { fault, ok } from '../finding.js';

const NAME = 'token';

/** Whether the token tells its symbol and decimals, as the index has them. */
export const tokenCheck: Check = {
  name: NAME,
  needs: ['RPC_URLS', 'TOKEN_CONTRACT'],
  needsChain: true,
  async *look(subject) {
    const { tokenContract, tokenSymbol: symbol, tokenDecimals } = subject.settings;
    const pool = await subject.chain();
    if (pool === undefined || tokenContract === undefined) return;
    try {
      const reader = new ChainReader(pool);
      const token = await reader.token(tokenContract, { symbol, decimals: tokenDecimals });
      const state = await subject.index();
      const found = `${token.symbol} with ${token.decimals} decimals at ${tokenContract}`;
      yield state === undefined || state.tokenDecimals === token.decimals
        ? ok(NAME, found)
        : fault(
            NAME,
            `${found}; the index was made with ${state.tokenDecimals} decimals`,
            'Check TOKEN_CONTRACT and TOKEN_DECIMALS. See docs/operating/reindexing.md.',
          );
    } catch (error) {
      // Where no endpoint answers, nothing is known of the token.
      if (!(error instanceof PermanentError)) throw error;
      yield fault(
        NAME,
        error.message,
        'Check TOKEN_CONTRACT, CHAIN_ID and RPC_URLS; a token that does not tell, or not each provider the same, needs TOKEN_SYMBOL and TOKEN_DECIMALS.',
      );
    }
  },
};
