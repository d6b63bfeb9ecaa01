import { Button, Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { formatCountdown } from '../../format/time';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { useTokenText } from '../config-context';
import { cardId } from './redemptions-query';
import { usePhase } from './use-phase';

/** On a phone: leads to a voucher whose card is out of sight, as its time runs. */
export function ClaimBar({ redemptions }: { readonly redemptions: readonly Redemption[] }) {
  return redemptions
    .filter(({ voucher }) => voucher !== null)
    .map((one) => <Bar key={one.id} redemption={one} />);
}

function Bar({ redemption }: { readonly redemption: Redemption }) {
  const { claim: words } = useTexts().texts.redeem;
  const tokens = useTokenText()(redemption.tokenAmount);
  const { phase, nowMs } = usePhase(redemption);
  const id = cardId(redemption);
  const isSeen = useIsSeen(id);
  if (phase !== 'claimable' || redemption.voucher === null || isSeen) return null;
  return (
    <Group className="claim-bar" justify="space-between" wrap="nowrap">
      <Text size="sm" fw={600}>
        {words.left(formatCountdown(redemption.voucher.deadline * 1000 - nowMs))}
      </Text>
      <Button onClick={() => document.getElementById(id)?.focus()}>{words.show(tokens)}</Button>
    </Group>
  );
}

/** Whether the element is in sight, at least in part. */
function useIsSeen(id: string): boolean {
  const [isSeen, setSeen] = useState(true);
  useEffect(() => {
    const element = document.getElementById(id);
    if (element === null) return undefined;
    const observer = new IntersectionObserver(([entry]) => setSeen(entry?.isIntersecting ?? true));
    observer.observe(element);
    return () => observer.disconnect();
  }, [id]);
  return isSeen;
}
