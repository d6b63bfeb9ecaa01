import {
  fingerprintOf,
  type IndexSettings,
  type IndexState,
  IndexStore,
  settingDifferences,
} from '#libs/db';
import { type Check } from '../check.js';
import { type DoctorSettings } from '../doctor.settings.js';
import { fault, type Finding, notChecked, ok, warning } from '../finding.js';
import { duration } from '../../output/text.js';
import { differenceText, givenSettings } from '../../staking.js';

const NAME = 'index';
const SETTINGS_OF_AN_INDEX = 5;
const REINDEXING = 'See docs/operating/reindexing.md.';

/** Whether there is an index, of these settings, not halted and not behind. */
export const indexCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  needsSchema: true,
  async *look(subject) {
    const state = await subject.index();
    if (state === undefined) {
      // Why there is none to see: where it cannot be read this throws.
      await new IndexStore(await subject.database()).state();
      yield notChecked(NAME, 'there is none yet; the indexer makes it');
      return;
    }
    yield* settingsFindings(state, subject.settings);
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
async function* settingsFindings(
  state: IndexState,
  settings: DoctorSettings,
): AsyncGenerator<Finding> {
  const what = `${NAME}: settings`;
  const given = await givenSettings(settings);
  const differences = settingDifferences(state, given);
  for (const difference of differences) {
    yield fault(
      what,
      `the index in this database was made with other settings: ${differenceText(difference)}`,
      `The indexer does not start with it: set it back, or index into another database. ${REINDEXING}`,
    );
  }
  if (differences.length > 0 || !isWhole(given)) return;
  yield fingerprintOf(given) === state.fingerprint
    ? ok(what, 'those that the index was made with')
    : fault(
        what,
        'what is stored of the settings of the index does not belong to its fingerprint',
        `Somebody changed the row by hand. Index again. ${REINDEXING}`,
      );
}

function isWhole(given: Partial<IndexSettings>): given is IndexSettings {
  return Object.keys(given).length === SETTINGS_OF_AN_INDEX;
}
