import { type ConsoleBody } from '../../api/console-client';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { deskTexts } from '../desk-texts';

type Standing = ConsoleBody<'PartnerSummary'>['standing'];

const TONES: Readonly<Record<Standing, Tone>> = {
  open: 'good',
  paused: 'warning',
  'no-budget': 'warning',
  'no-callback': 'neutral',
};

/** Whether anything can be redeemed with a partner. */
export function StandingBadge({ standing }: { readonly standing: Standing }) {
  return <StatusBadge tone={TONES[standing]}>{deskTexts.partners.standings[standing]}</StatusBadge>;
}
