import { type Address, type BlockRef } from '#libs/domain';
import { type ChainReader } from '../reader/chain-reader.js';
import { type FigureOptions } from '../reader/stake-views.js';
import {
  AllEndpointsFailedError,
  NodeBehindError,
  OverloadedError,
  type RpcError,
  StateUnavailableError,
  TransportError,
} from '../errors/rpc.errors.js';
import { askFigure, askOtherProvider, countProviders } from './providers.js';
import { type VerificationOffer } from './verification.js';

/** Any wallet will do to see whether balances are told; some contracts refuse the zero address. */
const ANY_WALLET = `0x${'1'.padStart(40, '0')}` as Address;

/**
 * Asks the endpoints what there is to hold events against. Where there are two providers, the total at past blocks is offered only if
 * two have it and tell the same: one alone is not to choose by what events are verified.
 * @param past a block whose state tells whether the total can be read at past blocks: the one before the first that is missing
 * @throws AllEndpointsFailedError
 */
export async function readVerificationOffer(
  reader: Pick<ChainReader, 'heads' | 'stakeTotal' | 'stakeBalances' | 'endpoints'> &
    Partial<Pick<ChainReader, 'unansweredViews'>>,
  past: BlockRef,
): Promise<VerificationOffer> {
  const { latest } = await reader.heads();
  const balances = await reader.stakeBalances([ANY_WALLET], latest);
  const total = await totalOffered(reader, past, latest);
  return {
    total,
    unanswered: reader.unansweredViews ?? [],
    balances: balances !== undefined,
    providers: countProviders(reader.endpoints),
  };
}

/** Undefined also where the chain does not have that block any more, or one endpoint has not its state and no other answers. */
async function totalAt(
  reader: Pick<ChainReader, 'stakeTotal'>,
  block: BlockRef,
  options?: FigureOptions,
): Promise<bigint | undefined> {
  try {
    return await reader.stakeTotal(block, options);
  } catch (error) {
    if (error instanceof AllEndpointsFailedError && isGone(error.failures)) return undefined;
    throw error;
  }
}

function isGone(failures: readonly RpcError[]): boolean {
  if (failures.some((failure) => failure instanceof NodeBehindError)) return true;
  const stateless = failures.filter((failure) => failure instanceof StateUnavailableError);
  // One that is only busy may well have it.
  const silent = failures.filter(
    (failure) => failure instanceof TransportError && !(failure instanceof OverloadedError),
  );
  return stateless.length > 0 && stateless.length + silent.length === failures.length;
}

async function isTotalKept(
  reader: Pick<ChainReader, 'stakeTotal' | 'endpoints'>,
  past: BlockRef,
): Promise<boolean> {
  const told = await askFigure((options) => totalAt(reader, past, options));
  if (told === undefined) return false;
  const ask = async (options: FigureOptions) => ({ total: await totalAt(reader, past, options) });
  const other = await askOtherProvider(told.endpoint, reader.endpoints, ask);
  // A provider that is out does not change the mode.
  return other === undefined || other.total === told.figure;
}

async function totalOffered(
  reader: Pick<ChainReader, 'stakeTotal' | 'endpoints'>,
  past: BlockRef,
  latest: BlockRef,
): Promise<VerificationOffer['total']> {
  if (await isTotalKept(reader, past)) return 'history';
  return (await totalAt(reader, latest)) === undefined ? 'none' : 'recent';
}
