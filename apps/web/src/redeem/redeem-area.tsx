import { Alert, Button, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { WagmiProvider } from 'wagmi';
import { useTexts } from '../texts/texts-context';
import { type RedeemConfig, useRedeemConfigQuery } from './config';
import { ConfigProvider } from './config-context';
import { LoadingCard } from './loading-card';
import { RedeemPage } from './redeem-page';
import { useOnline } from './use-online';
import { createWallets } from './wallet/wagmi-config';

/** The players' page. */
export function RedeemArea() {
  const { redeem } = useTexts().texts;
  const config = useRedeemConfigQuery();
  const isOnline = useOnline();
  return (
    <Stack maw={1120} mx="auto" gap="lg">
      <div>
        <Title order={1}>{redeem.title}</Title>
        <Text c="dimmed">{redeem.intro}</Text>
      </div>
      {!isOnline && (
        <Alert color="yellow" role="status">
          {redeem.offline}
        </Alert>
      )}
      {config.data !== undefined && <Connected config={config.data} />}
      {config.isPending && <LoadingCard />}
      {config.isError && <Unreachable onRetry={() => void config.refetch()} />}
    </Stack>
  );
}

function Connected({ config }: { readonly config: RedeemConfig }) {
  const [wallets] = useState(() => createWallets(config));
  return (
    <WagmiProvider config={wallets}>
      <ConfigProvider config={config}>
        <RedeemPage />
      </ConfigProvider>
    </WagmiProvider>
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
