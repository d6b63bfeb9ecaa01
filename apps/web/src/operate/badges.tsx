import { type ConsoleBody } from '../api/console-client';
import { StatusBadge, type Tone } from '../shared/status-badge';
import { texts } from './texts';
import { deskTexts } from './desk-texts';

type State = ConsoleBody<'StateCount'>['state'];

const STATE_TONES: Readonly<Record<State, Tone>> = {
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

export function StateBadge({ state }: { readonly state: State }) {
  return <StatusBadge tone={STATE_TONES[state]}>{texts.states[state]}</StatusBadge>;
}

type Standing = ConsoleBody<'PartnerSummary'>['standing'];

const STANDING_TONES: Readonly<Record<Standing, Tone>> = {
  open: 'good',
  paused: 'warning',
  'no-budget': 'warning',
  'no-callback': 'neutral',
};

/** Whether points can be redeemed with a partner. */
export function StandingBadge({ standing }: { readonly standing: Standing }) {
  return (
    <StatusBadge tone={STANDING_TONES[standing]}>
      {deskTexts.partners.standings[standing]}
    </StatusBadge>
  );
}
