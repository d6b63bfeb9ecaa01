import {
  type Findings,
  fingerprintOf,
  type IndexSettings,
  type IndexState,
  IndexStore,
  readFindings,
  settingDifferences,
} from '#libs/db';
import { MAX_AHEAD_SECONDS } from '#libs/domain';
import { differenceText, duration, givenSettings } from '#libs/operations';
import {
  type Answer,
  CheckEnded,
  fault,
  notChecked,
  ok,
  SCHEMA,
  table,
  warning,
} from './checks.js';
import { type DoctorSettings } from './doctor.settings.js';
import { type Subject } from './subject.js';

const SETTINGS_OF_AN_INDEX = 5;
const REINDEXING = 'See docs/operating/troubleshooting.md#indexing-again.';

interface Index {
  readonly state: IndexState;
  readonly findings: Findings;
  readonly settings: DoctorSettings;
  readonly nowMs: number;
}

/** Whether there is an index that matches the settings, is not halted and does not lag. */
export const indexCheck = table({
  title: 'index',
  needs: SCHEMA,
  read: readIndex,
  rows: [
    { title: 'index: settings', ask: settingsAnswers },
    {
      title: 'index',
      ask: ({ state: { halted }, nowMs }) => {
        if (halted === undefined) return undefined;
        return fault(`halted ${duration(nowMs - halted.at.getTime())} ago: ${halted.reason}`);
      },
      remedy: `Correct the cause and restart the indexer: it goes on from the stored head. If the index itself is wrong, take it back (\`index rewind --to BLOCK\`) or make it again (\`index again\`). ${REINDEXING}`,
    },
    {
      title: 'index: wrong figures',
      ask: ({ findings }) => {
        if (findings.length === 0) return undefined;
        const wallets = findings === 'all' ? 'any' : String(findings.length);
        return fault(
          `a check found a difference; wallets that the api does not answer about: ${wallets}`,
        );
      },
      remedy:
        'Compare the index with the chain, and repair it: `index repair`. See docs/operating/troubleshooting.md#a-wrong-figure.',
    },
    { title: 'index', ask: lagAnswer },
  ],
});

async function readIndex(subject: Subject): Promise<Index> {
  const state = await subject.index();
  if (state !== undefined) {
    const findings = await readFindings(await subject.stakes());
    return { state, findings, settings: subject.settings, nowMs: subject.clock.nowMs() };
  }
  // No index was found. This second read throws where the index could not be read.
  await new IndexStore(await subject.stakes()).state();
  throw new CheckEnded(notChecked('there is none yet; the indexer makes it'));
}

/** Reports the settings that would keep the indexer from starting. */
async function settingsAnswers({ state, settings }: Index): Promise<Answer | Answer[] | undefined> {
  const given = await givenSettings(settings);
  const differences = settingDifferences(state, given);
  if (differences.length > 0) {
    return differences.map((difference) =>
      fault(
        `the index in this database was made with other settings: ${differenceText(difference)}`,
        `The indexer does not start with it: set it back, or make the index again with it: \`index again\`. ${REINDEXING}`,
      ),
    );
  }
  if (!isWhole(given)) return undefined;
  return fingerprintOf(given) === state.fingerprint
    ? ok('those that the index was made with')
    : fault(
        'what is stored of the settings of the index does not belong to its fingerprint',
        `The row was changed by hand. Make the index again: \`index again\`. ${REINDEXING}`,
      );
}

function isWhole(given: Partial<IndexSettings>): given is IndexSettings {
  return Object.keys(given).length === SETTINGS_OF_AN_INDEX;
}

function lagAnswer({ state, settings: { indexMaxLagSeconds }, nowMs }: Index): Answer {
  const { head, syncedAt, tokenSymbol } = state;
  const lagMs = nowMs - head.timestampSeconds * 1000;
  const block = `block ${head.number} of ${tokenSymbol} stakes`;
  if (lagMs < -MAX_AHEAD_SECONDS * 1000) {
    return fault(
      `${block}, ${duration(-lagMs)} ahead of the clock: no snapshot is served`,
      'Let this machine follow a time server (NTP).',
    );
  }
  const found = `${block}, ${duration(lagMs)} behind the clock`;
  if (lagMs <= indexMaxLagSeconds * 1000) return ok(found);
  return syncedAt === undefined
    ? warning(`${found}; the first sync is under way`, 'Wait; see `rpc` below where it takes long.')
    : fault(
        `${found}, more than INDEX_MAX_LAG_SECONDS (${indexMaxLagSeconds}): no snapshot of today is served`,
        'See `indexer` and `rpc`; where the chain itself makes no blocks, wait for it.',
      );
}
