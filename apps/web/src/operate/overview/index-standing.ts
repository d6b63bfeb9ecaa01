import { type ConsoleBody } from '../../api/console-client';
import { type Tone } from '../../shared/status-badge';

export type IndexerState = ConsoleBody<'Service'>['state'];
type Figures = Pick<ConsoleBody<'Index'>, 'halted' | 'syncedAt' | 'lagSeconds'>;

interface Standing {
  readonly tone: Tone;
  readonly is: 'halted' | 'noAnswer' | 'firstSync' | 'ahead' | 'behind' | 'notReady' | 'level';
}

/** Longer than the time between two blocks of any chain. */
const BEHIND_SECONDS = 600;
/** From here on the clock of the console is wrong, or the header of the block. */
const AHEAD_SECONDS = 120;
/** Several blocks of a chain with a block every 12 s. */
const LEVEL_SECONDS = 60;

/**
 * The standing of an index, from its stored state, the age of its newest block, and its indexer's state.
 * @param indexer undefined where the indexer is not asked, or has not answered yet
 */
export function standingOf(
  { halted, syncedAt, lagSeconds }: Figures,
  indexer: IndexerState | undefined,
): Standing {
  if (halted !== null) return { tone: 'bad', is: 'halted' };
  if (indexer === 'no-answer') return { tone: 'bad', is: 'noAnswer' };
  if (syncedAt === null) return { tone: 'busy', is: 'firstSync' };
  if (lagSeconds < -AHEAD_SECONDS) return { tone: 'warning', is: 'ahead' };
  if (lagSeconds > BEHIND_SECONDS) return { tone: 'warning', is: 'behind' };
  if (indexer === 'not-ready') return { tone: 'warning', is: 'notReady' };
  if (lagSeconds > LEVEL_SECONDS) return { tone: 'neutral', is: 'behind' };
  return { tone: 'good', is: 'level' };
}
