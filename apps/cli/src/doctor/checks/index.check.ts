import { type IndexState } from '#libs/db';
import { type Check } from '../check.js';
import { type DoctorSettings } from '../doctor.settings.js';
import { fault, type Finding, notChecked, ok, warning } from '../finding.js';
import { duration } from '../../output/moments.js';
import { indexedContracts } from '../../audit/indexed-contracts.js';

const NAME = 'index';
const REINDEXING = 'See docs/operating/reindexing.md.';

/** Whether there is an index, of these settings, not halted and not behind. */
export const indexCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  async *look(subject) {
    const state = await subject.index();
    if (state === undefined) {
      yield notChecked(NAME, 'there is none yet; the indexer makes it');
      return;
    }
    for (const difference of differences(state, subject.settings)) {
      yield fault(
        `${NAME}: settings`,
        difference,
        `Set it back, or index into another database. ${REINDEXING}`,
      );
    }
    if (state.halted !== undefined) {
      const since = duration(subject.clock.nowMs() - state.halted.at.getTime());
      yield fault(NAME, `halted ${since} ago: ${state.halted.reason}`, REINDEXING);
    }
    yield lagFinding(state, subject.settings, subject.clock.nowMs());
  },
};

function lagFinding(
  { head, syncedAt, tokenSymbol }: IndexState,
  { indexMaxLagSeconds }: DoctorSettings,
  nowMs: number,
): Finding {
  const lagMs = nowMs - head.timestampSeconds * 1000;
  const found = `block ${head.number} of ${tokenSymbol} stakes, ${duration(lagMs)} behind the clock`;
  if (lagMs <= indexMaxLagSeconds * 1000) return ok(NAME, found);
  if (syncedAt === undefined) {
    return warning(
      NAME,
      `${found}; the first sync is under way`,
      'Wait; see `rpc` below where it takes long.',
    );
  }
  return fault(
    NAME,
    `${found}, more than INDEX_MAX_LAG_SECONDS (${indexMaxLagSeconds}): no snapshot of today is served`,
    'See `indexer` and `rpc`; where the chain itself makes no blocks, wait for it.',
  );
}

/** What the indexer would refuse to start for, of the settings that are given here. */
function differences(state: IndexState, settings: DoctorSettings): string[] {
  const { contracts, startBlock } = indexedContracts(state);
  const pairs: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ['CHAIN_ID', settings.chainId?.toString(), state.chainId.toString()],
    ['STAKE_CONTRACT', settings.stakeContract?.join(','), contracts.join(',')],
    ['STAKE_START_BLOCK', settings.stakeStartBlock?.toString(), startBlock?.toString()],
    ['TOKEN_CONTRACT', settings.tokenContract, state.tokenContract],
  ];
  return pairs
    .filter(([, given, stored]) => given !== undefined && stored !== undefined && given !== stored)
    .map(
      ([variable, given, stored]) =>
        `${variable} is ${given ?? ''}; the index was made with ${stored ?? ''}`,
    );
}
