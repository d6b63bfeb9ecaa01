import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, pollFrom } from '../api/console-client';
import { StatusBadge, type Tone } from '../shared/status-badge';
import { REFRESH_MS } from './card';
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

interface StandingBadgeProps {
  readonly partner: { readonly id: string; readonly standing: Standing };
}

/** Whether points can be redeemed with a partner, and what fails with it. */
export function StandingBadge({ partner: { id, standing } }: StandingBadgeProps) {
  const { partners: words } = deskTexts;
  const { data } = useQuery({
    queryKey: ['operate', 'overview', 'partners'],
    queryFn: pollFrom('/api/operate/overview/partners'),
    refetchInterval: REFRESH_MS,
  });
  const { stuck = 0, failedCalls = 0 } = data?.partners.find((one) => one.partner === id) ?? {};
  const hasTrouble = stuck + failedCalls > 0;
  return (
    <Group gap="xs">
      <StatusBadge tone={hasTrouble ? 'neutral' : STANDING_TONES[standing]}>
        {words.standings[standing]}
      </StatusBadge>
      {stuck > 0 && <StatusBadge tone="bad">{words.stuck(stuck)}</StatusBadge>}
      {failedCalls > 0 && <StatusBadge tone="warning">{words.failed(failedCalls)}</StatusBadge>}
    </Group>
  );
}
