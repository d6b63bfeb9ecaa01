import { Badge, Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { formatPercent, formatPoints, formatUsd } from '../../format/amount';
import { useTexts } from '../../texts/texts-context';
import { type Partner } from '../config';
import { useTokenText } from '../config-context';
import { useProblemText } from '../problem-text';
import { useLimits, usePoints, useQuote } from './partner-queries';
import { useRedeemClick } from './redeem-click';
import { RedeemForm } from './redeem-form';

interface PartnerCardProps {
  readonly partner: Partner;
  readonly wallet: string;
  /** Whether a redemption with this partner is open. */
  readonly hasOpen: boolean;
}

export function PartnerCard({ partner, wallet, hasOpen }: PartnerCardProps) {
  const { texts, locale } = useTexts();
  const words = texts.redeem.partners;
  const points = usePoints(partner.id, wallet);
  // Also where there is no form: a click of a page that was closed is brought to its answer.
  const click = useRedeemClick(wallet, partner.id);
  const { bonus } = partner;
  return (
    <Card withBorder padding="lg" component="article" aria-label={partner.name}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="start">
          <Title order={3} size="h4" className="text-of-others">
            {partner.name}
          </Title>
          {partner.paused && (
            <Badge color="gray" variant="outline" style={{ flexShrink: 0 }} tt="none" h="auto">
              {words.paused}
            </Badge>
          )}
        </Group>
        <PointsLine partner={partner} points={points} />
        {bonus !== null && (
          <Text size="sm" c="dimmed">
            {words.bonus(formatPercent(bonus.rate, locale), formatPoints(bonus.fromPoints, locale))}
          </Text>
        )}
        {hasOpen && <Text size="sm">{words.open}</Text>}
        {!hasOpen && !partner.paused && (points.data ?? 0) > 0 && (
          <RedeemForm partner={partner} wallet={wallet} balance={points.data ?? 0} click={click} />
        )}
      </Stack>
    </Card>
  );
}

function PointsLine({
  partner,
  points,
}: {
  readonly partner: Partner;
  readonly points: ReturnType<typeof usePoints>;
}) {
  const { texts, locale } = useTexts();
  const { partners: words, retry } = texts.redeem;
  const problemText = useProblemText();
  if (points.data === undefined && points.isError) {
    return (
      <Stack gap="xs" align="start" role="status">
        <Text size="sm" fw={600}>
          {words.unknownPoints}
        </Text>
        <Text size="sm">{problemText(points.error)}</Text>
        <Button variant="default" onClick={() => void points.refetch()}>
          {retry}
        </Button>
      </Stack>
    );
  }
  if (points.data === undefined) return <Skeleton height={28} width="50%" />;
  return (
    <div>
      <Text size="xl" fw={700}>
        {words.points(formatPoints(points.data, locale))}
      </Text>
      <Worth partner={partner} points={points.data} />
    </div>
  );
}

/** What the points, or as many of them as can be redeemed, would come to now. */
function Worth({ partner, points }: { readonly partner: Partner; readonly points: number }) {
  const { texts, locale } = useTexts();
  const tokenText = useTokenText();
  const limits = useLimits(partner.id);
  const most = Math.min(points, limits.data?.maxPoints ?? 0);
  const { data: quote } = useQuote(partner.id, most > 0 ? most : undefined);
  if (quote?.amount == null || quote.usdValue === null || most < points) return null;
  return (
    <Text size="sm" c="dimmed">
      {texts.redeem.partners.worth(tokenText(quote.amount), formatUsd(quote.usdValue, locale))}
    </Text>
  );
}
