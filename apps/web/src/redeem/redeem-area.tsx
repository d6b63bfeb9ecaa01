import { Alert, Button, Stack, Text, Title } from '@mantine/core';
import { useOnline, useSilence } from '../api/answer-watch';
import { useTexts } from '../texts/texts-context';
import { useRedeemConfigQuery } from './config';
import { ConfigProvider, OutageContext } from './config-context';
import { useKeptFocus } from './kept-focus';
import { LoadingCard } from './loading-card';
import { RedeemPage } from './redeem-page';

export function RedeemArea() {
  const { redeem } = useTexts().texts;
  const config = useRedeemConfigQuery();
  const isOnline = useOnline();
  const isSilent = useSilence();
  // A page without answers reports this in a single box, beside the content that it still shows.
  const isUnreachable = config.isError && isOnline && (config.data === undefined || !isSilent);
  const area = useKeptFocus();
  return (
    <Stack maw={1120} mx="auto" gap="lg" ref={area}>
      <div>
        <Title order={1}>{redeem.title}</Title>
        <Text c="dimmed">{redeem.intro}</Text>
      </div>
      {!isOnline && (
        <Alert color="yellow" role="status">
          {redeem.offline}
        </Alert>
      )}
      {isOnline && isSilent && !isUnreachable && (
        <Alert color="yellow" role="status">
          {redeem.silent}
        </Alert>
      )}
      {isUnreachable && <Unreachable onRetry={() => void config.refetch()} />}
      {config.data !== undefined && (
        <ConfigProvider config={config.data}>
          <OutageContext value={!isOnline || isSilent || isUnreachable}>
            <RedeemPage />
          </OutageContext>
        </ConfigProvider>
      )}
      {config.isPending && <LoadingCard />}
    </Stack>
  );
}

function Unreachable({ onRetry }: { readonly onRetry: () => void }) {
  const { redeem } = useTexts().texts;
  return (
    <Alert color="red" title={redeem.unreachable.title} role="alert">
      <Stack align="start" gap="sm">
        <Text size="sm">{redeem.unreachable.more}</Text>
        <Button variant="default" onClick={onRetry}>
          {redeem.retry}
        </Button>
      </Stack>
    </Alert>
  );
}
