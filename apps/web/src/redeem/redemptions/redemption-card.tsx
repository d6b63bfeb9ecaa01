import { Card, Collapse, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { formatPoints } from '../../format/amount';
import { formatTime } from '../../format/time';
import { When } from '../../shared/when';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { useTokenText } from '../config-context';
import { useNow } from '../use-now';
import { CancelPart } from './cancel-part';
import { useSentClaim } from './claims-store';
import { ClaimPart } from './claim-part';
import { RedemptionNotes } from './redemption-notes';
import { hasEnded, type Phase, phaseOf } from './redemption-phase';
import { RedemptionSteps } from './redemption-steps';
import { useSeenOnChain } from './seen-on-chain';

interface RedemptionCardProps {
  readonly redemption: Redemption;
  readonly wallet: string;
}

/** One that is open shows all; one that has ended shows its outcome, and the rest when asked. */
export function RedemptionCard({ redemption, wallet }: RedemptionCardProps) {
  const { locale, texts } = useTexts();
  const sent = useSentClaim(redemption.id);
  const seen = useSeenOnChain(redemption, sent);
  const nowMs = useNow();
  const phase = phaseOf(redemption, { sent, seen, nowMs });
  const isOpen = !hasEnded(redemption);
  const [isUnfolded, setUnfolded] = useState(isOpen);
  const headline = useHeadline(redemption, phase, nowMs);
  const points = texts.redeem.list.item(formatPoints(redemption.points, locale));
  return (
    <Card
      withBorder
      padding="lg"
      component="article"
      data-phase={phase}
      aria-label={`${points}, ${redemption.partner.name}`}
    >
      <Stack gap="sm">
        <UnstyledButton
          aria-expanded={isUnfolded}
          onClick={() => {
            setUnfolded(!isUnfolded);
          }}
        >
          <Group justify="space-between" gap="xs" align="start">
            <Text size="sm" c="dimmed" className="text-of-others">
              {points} · {redemption.partner.name}
            </Text>
            <Text size="sm" c="dimmed">
              <When at={redemption.initialAt} isShort />
            </Text>
          </Group>
          <Title order={3} size="h4" role="status" aria-live="polite">
            {headline}
          </Title>
        </UnstyledButton>
        {isOpen && (
          <>
            <ClaimPart redemption={redemption} phase={phase} sent={sent} nowMs={nowMs} />
            <RedemptionNotes redemption={redemption} phase={phase} />
            <CancelPart redemption={redemption} phase={phase} wallet={wallet} />
          </>
        )}
        {!isOpen && <RedemptionNotes redemption={redemption} phase={phase} />}
        <Collapse expanded={isUnfolded}>
          <RedemptionSteps redemption={redemption} phase={phase} sent={sent} />
        </Collapse>
      </Stack>
    </Card>
  );
}

function useHeadline(
  { tokenAmount, payableUntil }: Redemption,
  phase: Phase,
  nowMs: number,
): string {
  const { texts, locale } = useTexts();
  const { headlines } = texts.redeem;
  const tokens = useTokenText()(tokenAmount);
  if (phase === 'claimed') return headlines.claimed(tokens);
  if (phase !== 'claimable') return headlines[phase];
  return headlines.claimable(tokens, formatTime(payableUntil ?? '', locale, nowMs));
}
