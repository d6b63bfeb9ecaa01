import { type components } from '../api/console.generated';
import { type Tone } from '../shared/status-badge';
import { texts } from './texts';

export type Call = components['schemas']['OwnCall'];

export function toneOf({ outcome, verdict }: Call): Tone {
  if (outcome === null) return 'busy';
  if (outcome !== 'answer') return 'bad';
  return verdict === 'verified' ? 'good' : 'warning';
}

/** How far the call came, in a few words. */
export function outcomeText({ outcome, answer }: Call): string {
  const shown = texts.calls.outcomes[outcome ?? 'open'] ?? '';
  return answer === null ? shown : `${shown} ${answer.status}`;
}
