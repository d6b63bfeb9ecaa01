import { Alert, Button, Stack, Text, Title } from '@mantine/core';
import { useSilence } from '../api/answer-watch';
import { useTexts } from '../texts/texts-context';
import { useRedeemConfigQuery } from './config';
import { ConfigProvider } from './config-context';
import { useKeptFocus } from './kept-focus';
import { LoadingCard } from './loading-card';
import { RedeemPage } from './redeem-page';
import { useOnline } from './use-online';

/** The players' page. */
export function RedeemArea() {
  const { redeem } = useTexts().texts;
  const config = useRedeemConfigQuery();
  const isOnline = useOnline();
  const isSilent = useSilence();
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
      {isOnline && isSilent && (
        <Alert color="yellow" role="status">
          {redeem.silent}
        </Alert>
      )}
      {config.data !== undefined && (
        <ConfigProvider config={config.data}>
          <RedeemPage />
        </ConfigProvider>
      )}
      {config.isPending && <LoadingCard />}
      {config.isError && <Unreachable onRetry={() => void config.refetch()} />}
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
