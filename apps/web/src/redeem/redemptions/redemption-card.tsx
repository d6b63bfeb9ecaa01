import { Card, Collapse, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';
import { formatPoints } from '../../format/amount';
import { When } from '../../shared/when';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { useTokenText } from '../config-context';
import { CancelPart } from './cancel-part';
import { cardId } from './redemptions-query';
import { ClaimPart } from './claim-part';
import { RedemptionNotes } from './redemption-notes';
import { hasEnded, type Phase } from './redemption-phase';
import { RedemptionSteps } from './redemption-steps';
import { usePhase } from './use-phase';

interface RedemptionCardProps {
  readonly redemption: Redemption;
  readonly wallet: string;
}

/** An open redemption shows all details; an ended one shows its outcome, and the details on request. */
export function RedemptionCard({ redemption, wallet }: RedemptionCardProps) {
  const { locale, texts } = useTexts();
  const { phase, sent, nowMs } = usePhase(redemption);
  const isOpen = !hasEnded(redemption);
  const [isUnfolded, setUnfolded] = useState(isOpen);
  const headline = useHeadline(redemption, phase);
  const points = texts.redeem.list.item(formatPoints(redemption.points, locale));
  return (
    <Card
      withBorder
      padding="lg"
      component="article"
      id={cardId(redemption)}
      tabIndex={-1}
      data-focus-home
      data-phase={phase}
      aria-label={`${points}, ${redemption.partner.name}`}
    >
      <Stack gap="sm">
        <UnstyledButton aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
          <Group justify="space-between" gap="xs" align="start">
            <Text size="sm" c="dimmed" className="text-of-others">
              {points} · {redemption.partner.name}
            </Text>
            <Group gap={4} wrap="nowrap" c="dimmed">
              <Text size="sm">
                <When at={redemption.initialAt} isShort />
              </Text>
              <IconChevronDown
                size={18}
                aria-hidden
                style={{ transform: isUnfolded ? 'rotate(180deg)' : undefined }}
              />
            </Group>
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

function useHeadline({ tokenAmount }: Redemption, phase: Phase): string {
  const { headlines } = useTexts().texts.redeem;
  const tokens = useTokenText()(tokenAmount);
  const headline = headlines[phase];
  return typeof headline === 'string' ? headline : headline(tokens);
}
