import { type ConsoleBody } from '../../api/console-client';
import { type Tone } from '../../shared/status-badge';
import { spanText } from '../../shared/when';
import { texts } from '../texts';

export type IndexerState = ConsoleBody<'Service'>['state'];
type Figures = Pick<ConsoleBody<'Index'>, 'halted' | 'syncedAt' | 'lagSeconds'>;

interface Standing {
  readonly tone: Tone;
  readonly text: string;
}

/** Longer than any chain takes for a block: the api answers partners with 503 then. */
const BEHIND_SECONDS = 600;
/** Several blocks of a chain that makes one in 12 s. */
const LEVEL_SECONDS = 60;
const words = texts.overview.index;

/**
 * How an index stands: by what is stored of it, by the age of its newest block, and by its indexer.
 * @param indexer what it answers; undefined where it is not asked, or has not answered yet
 */
export function standingOf(
  { halted, syncedAt, lagSeconds }: Figures,
  indexer: IndexerState | undefined,
): Standing {
  if (halted !== null) return { tone: 'bad', text: words.halted };
  if (indexer === 'no-answer') return { tone: 'bad', text: words.noAnswer };
  if (syncedAt === null) return { tone: 'busy', text: words.firstSync };
  const behind = words.behind(spanText(lagSeconds));
  if (lagSeconds > BEHIND_SECONDS) return { tone: 'warning', text: behind };
  if (indexer === 'not-ready') return { tone: 'warning', text: words.notReady };
  if (lagSeconds > LEVEL_SECONDS) return { tone: 'neutral', text: behind };
  return { tone: 'good', text: words.level };
}
