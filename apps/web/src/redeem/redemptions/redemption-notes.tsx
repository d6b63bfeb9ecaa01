import { Stack, Text } from '@mantine/core';
import { formatTime, formatWait, upToMinute } from '../../format/time';
import { useTexts } from '../../texts/texts-context';
import { serverNowMs } from '../../api/server-clock';
import { type Redemption } from '../config';
import { useRedeemConfig } from '../config-context';
import { type Phase } from './redemption-phase';

/** What the player can expect: when the points come back, when the claim is final, why the redemption ended. */
export function RedemptionNotes({
  redemption,
  phase,
}: {
  readonly redemption: Redemption;
  readonly phase: Phase;
}) {
  const lines = useNotes(redemption, phase);
  if (lines.length === 0) return null;
  return (
    <Stack gap={4}>
      {lines.map((line) => (
        <Text size="sm" key={line}>
          {line}
        </Text>
      ))}
    </Stack>
  );
}

function useNotes({ reason, returnsBy }: Redemption, phase: Phase): string[] {
  const { texts, locale } = useTexts();
  const { notes, reasons } = texts.redeem;
  const { finalitySeconds } = useRedeemConfig().chain;
  const returns =
    returnsBy === null ? undefined : formatTime(upToMinute(returnsBy), locale, serverNowMs());
  const why = reason === null ? undefined : reasons[reason];
  const said = (...lines: (string | undefined)[]): string[] =>
    lines.filter((line) => line !== undefined);
  switch (phase) {
    case 'starting':
    case 'taking':
    case 'preparing':
      return said(notes.leave);
    case 'claimable':
      return said(returns && notes.unclaimed(returns));
    case 'sent':
    case 'inBlock':
      return said(
        finalitySeconds === null ? undefined : notes.final(formatWait(finalitySeconds, locale)),
        notes.leave,
      );
    case 'sentOver':
      return said(returns && notes.ifNotThrough(returns), notes.leave);
    case 'over':
      return said(returns && notes.ifNotClaimed(returns), notes.leave);
    case 'cancelling':
      return said(why, returns && notes.ifNotClaimed(returns), notes.leave);
    case 'returning':
      return said(why, notes.leave);
    case 'attention':
    case 'claimed':
      return [];
    case 'reverted':
    case 'failed':
      return said(why);
  }
}
