import { readFile } from 'node:fs/promises';
import { parseStakeViews, type StakeView } from '../reader/stake-view.js';
import { isRecord } from '../shape/hex.js';
import { presetOf, STAKE_PRESETS } from './presets.js';
import { eventSpecOf, parseEntry, refuseDoubles } from './make-stake-event.js';
import { StakeEventsError, type StakeEventSpec } from './stake-event.js';

/** What STAKE_EVENTS says of the staking contracts. */
export interface StakeDescription {
  readonly events: StakeEventSpec[];
  /** A filter picks a part of the contract's stakes. */
  readonly isPartial: boolean;
  /** Views whose figures add up to the total of all stakes; none where there is no such total, undefined where nothing is said. */
  readonly totalView?: readonly StakeView[];
  /** Likewise for a wallet's stake. */
  readonly balanceView?: readonly StakeView[];
}

/**
 * The setting STAKE_EVENTS: the name of a preset, or the path of a JSON file.
 * @throws StakeEventsError, StakeViewError saying which part is wrong and why
 */
export async function loadStakeDescription(setting: string): Promise<StakeDescription> {
  if (presetOf(setting)) return parseStakeDescription(setting);
  let text: string;
  try {
    text = await readFile(setting, 'utf8');
  } catch (error) {
    const presets = Object.entries(STAKE_PRESETS)
      .map(([name, { parameter }]) => (parameter === undefined ? name : `${name}:<${parameter}>`))
      .join(', ');
    const reason =
      isRecord(error) && typeof error['code'] === 'string' ? error['code'] : 'unreadable';
    throw new StakeEventsError(
      'STAKE_EVENTS',
      `"${setting}" is neither a preset (${presets}) nor a file that can be read (${reason})`,
    );
  }
  return parseStakeDescription(text);
}

/** The events of the setting alone. */
export async function loadStakeEvents(setting: string): Promise<StakeEventSpec[]> {
  return (await loadStakeDescription(setting)).events;
}

/**
 * @param text the name of a preset, a JSON list of events, or a JSON object of `events`, `totalView` and `balanceView`
 * @throws StakeEventsError, StakeViewError saying which part is wrong and why
 */
export function parseStakeDescription(text: string): StakeDescription {
  const { events, totalView, balanceView } = presetOf(text) ?? parseJson(text);
  const specs = events.map((entry, index) =>
    eventSpecOf(parseEntry(entry, `STAKE_EVENTS[${index}]`), `STAKE_EVENTS[${index}]`),
  );
  refuseDoubles(specs);
  return {
    events: specs,
    isPartial: specs.some(({ where }) => where.length > 0),
    ...(totalView !== undefined && {
      totalView: parseStakeViews(totalView, 'STAKE_EVENTS totalView', 'total'),
    }),
    ...(balanceView !== undefined && {
      balanceView: parseStakeViews(balanceView, 'STAKE_EVENTS balanceView', 'balance'),
    }),
  };
}

/** The events of the text alone. */
export function parseStakeEvents(text: string): StakeEventSpec[] {
  return parseStakeDescription(text).events;
}

interface RawDescription {
  readonly events: readonly unknown[];
  readonly totalView?: unknown;
  readonly balanceView?: unknown;
}

const KEYS = ['events', 'totalView', 'balanceView'];

function parseJson(text: string): RawDescription {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new StakeEventsError('STAKE_EVENTS', `is not JSON: ${error.message}`);
  }
  const description: Record<string, unknown> = isRecord(value) ? value : { events: value };
  const unknown = Object.keys(description).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw new StakeEventsError(
      'STAKE_EVENTS',
      `has an unknown key "${unknown}"; known: ${KEYS.join(', ')}`,
    );
  }
  const { events, ...views } = description;
  if (!Array.isArray(events) || events.length === 0) {
    throw new StakeEventsError(
      'STAKE_EVENTS',
      'must be a JSON list with at least one event, or an object with such a list as "events"',
    );
  }
  return { events, ...views };
}
