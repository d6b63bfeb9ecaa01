import { Group, List, Text, ThemeIcon } from '@mantine/core';
import { IconCheck, IconCircle, IconCircleDot } from '@tabler/icons-react';
import { When } from '../../shared/when';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { type SentClaim } from './claims-store';
import { type Phase, type Step, stepsOf } from './redemption-phase';

interface RedemptionStepsProps {
  readonly redemption: Redemption;
  readonly phase: Phase;
  readonly sent: SentClaim | undefined;
}

export function RedemptionSteps({ redemption, phase, sent }: RedemptionStepsProps) {
  const { texts } = useTexts();
  const { steps: words, claim } = texts.redeem;
  const hash = redemption.txnHash ?? sent?.hash;
  return (
    <>
      <List spacing={6} size="sm" center listStyleType="none">
        {stepsOf(redemption, phase, sent).map((step) => (
          <List.Item
            key={step.name}
            icon={<StepIcon state={step.state} />}
            aria-current={step.state === 'now' ? 'step' : undefined}
          >
            <Group gap="xs" justify="space-between">
              <Text
                size="sm"
                c={step.state === 'next' ? 'dimmed' : ''}
                fw={step.state === 'now' ? 600 : 400}
              >
                {words[step.name]}
              </Text>
              {step.at !== null && (
                <Text size="sm" c="dimmed">
                  <When at={step.at} isShort />
                </Text>
              )}
            </Group>
          </List.Item>
        ))}
      </List>
      {hash !== undefined && (
        <Text size="xs" c="dimmed" mt="xs" className="text-of-others">
          {claim.transaction}: {hash}
        </Text>
      )}
    </>
  );
}

const ICONS: Readonly<Record<Step['state'], typeof IconCheck>> = {
  done: IconCheck,
  now: IconCircleDot,
  next: IconCircle,
};

function StepIcon({ state }: Pick<Step, 'state'>) {
  const Icon = ICONS[state];
  return (
    <ThemeIcon
      size={22}
      radius="xl"
      variant={state === 'done' ? 'light' : 'transparent'}
      color={state === 'next' ? 'gray' : 'cyan'}
      aria-hidden
    >
      <Icon size={16} />
    </ThemeIcon>
  );
}
