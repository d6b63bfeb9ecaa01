import { type Database, IndexStore, readServerFacts, StakeSetStore } from '#libs/db';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { duration } from '#libs/operations';
import { type Answer, check, fault, notChecked, ok, SCHEMA, warning } from './checks.js';
import { type Subject } from './subject.js';

const REMEDY = 'Look at its indexer. All about it: `doctor --stake-set NAME` with its settings.';

/** Checks the other stake sets in the database only; all other checks need a stake set's own settings. */
export const stakeSetsCheck = check({
  title: 'stake sets',
  needs: SCHEMA,
  ask: otherSets,
  remedy: REMEDY,
});

async function otherSets(subject: Subject): Promise<Answer[]> {
  const { stakeSet } = subject.settings;
  const database = await subject.database();
  const names = await new StakeSetStore(database).names();
  const answers: Answer[] = [];
  for (const name of names) {
    if (name === stakeSet) continue;
    const answer = await setAnswer(subject, database, name);
    if (answer !== undefined) answers.push({ ...answer, title: `stake set ${name}` });
  }
  return answers;
}

async function setAnswer(
  { clock, settings }: Subject,
  database: Database,
  name: string,
): Promise<Answer | undefined> {
  const state = await new IndexStore(database.inSet(name)).state();
  if (state === undefined) {
    // An installation may have no index in the default stake set.
    return name === DEFAULT_STAKE_SET ? undefined : notChecked('it has no index yet');
  }
  const { halted, head, chainId, stakeContract } = state;
  if (halted !== undefined) return fault(`halted: ${halted.reason}`);
  const lagMs = clock.nowMs() - head.timestampSeconds * 1000;
  const found = `${stakeContract} on chain ${chainId}: block ${head.number}, ${duration(lagMs)} behind the clock`;
  const { isLed } = await readServerFacts(database, name);
  if (!isLed) return warning(`${found}; no indexer is at work on it`);
  return lagMs > settings.indexMaxLagSeconds * 1000 ? warning(found) : ok(found);
}
