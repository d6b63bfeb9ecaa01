import { Badge, Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { formatPercent, formatPoints } from '../../format/amount';
import { useTexts } from '../../texts/texts-context';
import { type Partner, type Redemption } from '../config';
import { useTokenText } from '../config-context';
import { useAskedAgainText } from '../problem-text';
import { usePhase } from '../redemptions/use-phase';
import { type PointsOfPartner, usePoints } from './partner-queries';
import { useUsdText } from './quote-view';
import { useRedeemClick } from './redeem-click';
import { RedeemForm } from './redeem-form';

interface PartnerCardProps {
  readonly partner: Partner;
  readonly wallet: string;
  /** The open redemption with this partner; undefined where there is none. */
  readonly open: Redemption | undefined;
}

export function PartnerCard({ partner, wallet, open }: PartnerCardProps) {
  const { texts, locale } = useTexts();
  const words = texts.redeem.partners;
  const points = usePoints(partner.id, wallet);
  // Runs without the form too: the pending click of a closed page still has to get its answer.
  const click = useRedeemClick(wallet, partner.id);
  const { bonus } = partner;
  return (
    <Card
      withBorder
      padding="lg"
      component="article"
      aria-label={partner.name}
      tabIndex={-1}
      data-focus-home
    >
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
        <PointsLine points={points} />
        {bonus !== null && (
          <Text size="sm" c="dimmed">
            {words.bonus(formatPercent(bonus.rate, locale), formatPoints(bonus.fromPoints, locale))}
          </Text>
        )}
        {open !== undefined && <OpenLine redemption={open} />}
        {open === undefined && !partner.paused && (points.data?.points ?? 0) > 0 && (
          <RedeemForm
            partner={partner}
            wallet={wallet}
            balance={points.data?.points ?? 0}
            limits={points.data?.limits}
            click={click}
          />
        )}
      </Stack>
    </Card>
  );
}

/** Why there is no form: the player has to claim first, or to wait. */
function OpenLine({ redemption }: { readonly redemption: Redemption }) {
  const { partners: words } = useTexts().texts.redeem;
  const { phase } = usePhase(redemption);
  return <Text size="sm">{phase === 'claimable' ? words.claimFirst : words.underWay}</Text>;
}

function PointsLine({ points }: { readonly points: ReturnType<typeof usePoints> }) {
  const { texts, locale } = useTexts();
  const { partners: words, retry, asksAgain } = texts.redeem;
  const problemText = useAskedAgainText();
  const { data, error } = points;
  if (data?.problem?.code === 'USER_NOT_FOUND') {
    return (
      <div role="status">
        <Text size="sm" fw={600}>
          {words.unknownWallet}
        </Text>
        <Text size="sm">{words.unknownWalletMore}</Text>
      </div>
    );
  }
  const said = data?.problem?.code === 'PARTNER_ERROR' ? words.oddAnswer : words.silentGame;
  const hasProblem = data?.problem != null;
  if (hasProblem || error !== null) {
    return (
      <Stack gap="xs" align="start" role="status">
        <Text size="sm" fw={600}>
          {words.unknownPoints}
        </Text>
        <Text size="sm">{hasProblem ? `${said} ${asksAgain}` : problemText(error)}</Text>
        <Button variant="default" onClick={() => void points.refetch()}>
          {retry}
        </Button>
      </Stack>
    );
  }
  if (data === undefined) return <Skeleton height={28} width="50%" />;
  return (
    <div>
      <Text size="xl" fw={700}>
        {words.points(formatPoints(data.points ?? 0, locale))}
      </Text>
      <Worth of={data} />
    </div>
  );
}

/** The current worth of the points, if all can be redeemed. */
function Worth({ of: { points, quote } }: { readonly of: PointsOfPartner }) {
  const { texts } = useTexts();
  const tokenText = useTokenText();
  const usdText = useUsdText();
  if (quote?.amount == null || quote.usdValue === null || quote.points !== points) return null;
  return (
    <Text size="sm" c="dimmed">
      {texts.redeem.partners.worth(
        tokenText(quote.amount),
        usdText(quote.usdValue, quote.bonusRate),
      )}
    </Text>
  );
}
