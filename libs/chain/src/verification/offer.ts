import { type Address, type BlockRef } from '#libs/domain';
import { type ChainReader } from '../reader/chain-reader.js';
import { countProviders } from './providers.js';
import { type VerificationOffer } from './verification.js';

/** Any wallet will do to see whether balances are told; some contracts refuse the zero address. */
const ANY_WALLET = `0x${'1'.padStart(40, '0')}` as Address;

/**
 * Asks the endpoints what there is to hold events against.
 * @param past a block whose state tells whether the total can be read at past blocks: the one before the first that is missing
 * @throws AllEndpointsFailedError
 */
export async function readVerificationOffer(
  reader: Pick<ChainReader, 'heads' | 'stakeTotal' | 'stakeBalances' | 'endpoints'>,
  past: BlockRef,
): Promise<VerificationOffer> {
  const { latest } = await reader.heads();
  const balances = await reader.stakeBalances([ANY_WALLET], latest);
  return {
    total: await totalOffered(reader, past, latest),
    balances: balances !== undefined,
    providers: countProviders(reader.endpoints),
  };
}

async function totalOffered(
  reader: Pick<ChainReader, 'stakeTotal'>,
  past: BlockRef,
  latest: BlockRef,
): Promise<VerificationOffer['total']> {
  if ((await reader.stakeTotal(past)) !== undefined) return 'history';
  return (await reader.stakeTotal(latest)) === undefined ? 'none' : 'recent';
}
