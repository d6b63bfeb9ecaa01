import { Alert, Button, Card, Stack, Text, Title } from '@mantine/core';
import { use } from 'react';
import { useTexts } from '../../texts/texts-context';
import { LoadingCard } from '../loading-card';
import { OutageContext } from '../config-context';
import { useAskedAgainText, useProblemText } from '../problem-text';
import { type Redemption } from '../config';
import { RedemptionCard } from './redemption-card';
import { hasEnded } from './redemption-phase';
import { type useRedemptions } from './redemptions-query';

interface RedemptionsPanelProps {
  readonly wallet: string;
  readonly redemptions: ReturnType<typeof useRedemptions>;
}

/** All redemptions of the wallet: the open ones, then the ended ones, newest first. */
export function RedemptionsPanel({ wallet, redemptions }: RedemptionsPanelProps) {
  const { list: words } = useTexts().texts.redeem;
  const problemText = useAskedAgainText();
  const isOut = use(OutageContext);
  const { data, isPending, error, isFetchNextPageError } = redemptions;
  return (
    <Stack component="section" aria-labelledby="redemptions-title" gap="md">
      <Title order={2} size="h3" id="redemptions-title">
        {words.title}
      </Title>
      {error !== null && !isFetchNextPageError && !isOut && (
        <Alert color="red" role="alert">
          {problemText(error)}
        </Alert>
      )}
      {(isPending || (data === undefined && isOut)) && <LoadingCard />}
      {data?.length === 0 && (
        <Card withBorder padding="lg">
          <Text fw={600}>{words.empty}</Text>
          <Text size="sm" c="dimmed">
            {words.emptyMore}
          </Text>
        </Card>
      )}
      {openFirst(data ?? []).map((one) => (
        <RedemptionCard key={one.id} redemption={one} wallet={wallet} />
      ))}
      {redemptions.hasNextPage && <MoreButton redemptions={redemptions} />}
    </Stack>
  );
}

function openFirst(items: readonly Redemption[]): readonly Redemption[] {
  return [...items.filter((one) => !hasEnded(one)), ...items.filter(hasEnded)];
}

function MoreButton({ redemptions }: Pick<RedemptionsPanelProps, 'redemptions'>) {
  const { list: words } = useTexts().texts.redeem;
  const problemText = useProblemText();
  const { isFetchingNextPage, isFetchNextPageError, fetchNextPage, error } = redemptions;
  return (
    <>
      <Button
        variant="default"
        loading={isFetchingNextPage}
        onClick={() => void fetchNextPage({ cancelRefetch: true })}
      >
        {words.more}
      </Button>
      {isFetchNextPageError && <Alert color="yellow">{problemText(error)}</Alert>}
    </>
  );
}
