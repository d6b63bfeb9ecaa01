import { indexedContracts } from '#libs/audit';
import {
  chooseVerification,
  readVerificationOffer,
  type RpcPool,
  type Verification,
  type VerificationOffer,
} from '#libs/chain';
import { type BlockRef, PermanentError } from '#libs/domain';
import { stakeReader } from '../../staking.js';
import { type Check } from '../check.js';
import { fault, type Finding, notChecked, ok, warning } from '../finding.js';
import { type Subject } from '../subject.js';

const NAME = 'verification';

/** By what events are vouched for with these settings and endpoints: asked as the indexer asks it at its start. */
export const verificationCheck: Check = {
  name: NAME,
  needs: ['RPC_URLS'],
  needsChain: true,
  async *look(subject) {
    const pool = await subject.chain();
    if (pool === undefined) return;
    const read = await readOffer(subject, pool);
    if (typeof read === 'string') {
      yield notChecked(NAME, read);
      return;
    }
    try {
      yield findingOf(chooseVerification(subject.settings.stakeVerification, read), read);
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      const mend = 'The indexer does not start with it: do what is named, or set it to auto.';
      yield fault(NAME, error.message, mend);
    }
  },
};

function findingOf({ mode, reason, cannotFind }: Verification, offer: VerificationOffer): Finding {
  const found = `${mode}: ${reason} It cannot find: ${cannotFind}`;
  if (offer.unanswered !== undefined && offer.unanswered.length > 0) {
    return fault(NAME, found, 'Correct STAKE_TOTAL_VIEW or STAKE_BALANCE_VIEW, or set it to none.');
  }
  if (mode === 'headers') {
    return warning(
      NAME,
      found,
      'It costs a header for each block: see `plan-sync`. A second provider in RPC_URLS, STAKE_TOTAL_VIEW or STAKE_BALANCE_VIEW is cheaper.',
    );
  }
  if (mode === 'total' && offer.total === 'recent') {
    return warning(
      NAME,
      found,
      'An endpoint with the state of past blocks (archive), or a second provider, lets a first sync verify as it goes.',
    );
  }
  return ok(NAME, found);
}

/** Or why it cannot be asked. */
async function readOffer(subject: Subject, pool: RpcPool): Promise<VerificationOffer | string> {
  const { contracts, startBlock } = await subject.staking();
  if (contracts.length === 0) return 'STAKE_CONTRACT is not set, and there is no index';
  const state = await subject.index();
  const chainId = subject.settings.chainId ?? state?.chainId;
  if (chainId === undefined) return 'CHAIN_ID is not set, and there is no index';
  const isPartial = state && indexedContracts(state).isPartial;
  const reader = await stakeReader(pool, { chainId, contracts, isPartial }, subject.settings);
  if (state) return readVerificationOffer(reader, state.head);
  if (startBlock === undefined) return 'STAKE_START_BLOCK is not set, and there is no index';
  const [before]: (BlockRef | undefined)[] = await reader.headers([
    startBlock > 0n ? startBlock - 1n : 0n,
  ]);
  return before ? readVerificationOffer(reader, before) : 'STAKE_START_BLOCK is above the head';
}
