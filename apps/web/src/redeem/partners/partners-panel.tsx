import { Alert, Button, Card, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { use } from 'react';
import { playerApi } from '../../api/player-client';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { LoadingCard } from '../loading-card';
import { OutageContext } from '../config-context';
import { useAskedAgainText } from '../problem-text';
import { hasEnded } from '../redemptions/redemption-phase';
import { PartnerCard } from './partner-card';

interface PartnersPanelProps {
  readonly wallet: string;
  readonly redemptions: readonly Redemption[];
}

const REFRESH_MS = 60_000;

export function PartnersPanel({ wallet, redemptions }: PartnersPanelProps) {
  const { texts } = useTexts();
  const { partners: words, retry } = texts.redeem;
  const problemText = useAskedAgainText();
  const isOut = use(OutageContext);
  const partners = useQuery({
    queryKey: ['partners'],
    queryFn: async () => (await playerApi.GET('/api/partners')).data?.partners ?? [],
    refetchInterval: ({ state }) => (state.status === 'error' ? 5_000 : REFRESH_MS),
  });
  const open = new Map(
    redemptions.filter((one) => !hasEnded(one)).map((one) => [one.partner.id, one]),
  );
  return (
    <Stack component="section" aria-labelledby="points-title" gap="md">
      <Title order={2} size="h3" id="points-title" tabIndex={-1} data-focus-start>
        {words.title}
      </Title>
      {(partners.isPending || (partners.isLoadingError && isOut)) && <LoadingCard />}
      {partners.isLoadingError && !isOut && (
        <Alert color="red" role="alert">
          <Stack gap="sm" align="start">
            <Text size="sm">{problemText(partners.error)}</Text>
            <Button variant="default" onClick={() => void partners.refetch()}>
              {retry}
            </Button>
          </Stack>
        </Alert>
      )}
      {partners.data?.length === 0 && (
        <Card withBorder padding="lg">
          <Text fw={600}>{words.empty}</Text>
          <Text size="sm" c="dimmed">
            {words.emptyMore}
          </Text>
        </Card>
      )}
      {partners.data?.map((partner) => (
        <PartnerCard
          key={partner.id}
          partner={partner}
          wallet={wallet}
          open={open.get(partner.id)}
        />
      ))}
    </Stack>
  );
}
