import { type ConsoleBody } from '../api/console-client';
import { StatusBadge, type Tone } from '../shared/status-badge';
import { texts } from './texts';

type State = ConsoleBody<'StateCount'>['state'];

const TONES: Readonly<Record<State, Tone>> = {
  created: 'busy',
  deducting: 'busy',
  deducted: 'busy',
  authorised: 'busy',
  reverting: 'warning',
  claimed: 'good',
  reverted: 'neutral',
  failed: 'neutral',
  attention: 'bad',
};

/** The state of a redemption, as operators know it. */
export function StateBadge({ state }: { readonly state: State }) {
  return <StatusBadge tone={TONES[state]}>{texts.states[state]}</StatusBadge>;
}
