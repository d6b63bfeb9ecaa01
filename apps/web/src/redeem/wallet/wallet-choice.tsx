import { Alert, Button, Card, Image, Select, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Connector, useConnect, useConnectors } from 'wagmi';
import { useTexts } from '../../texts/texts-context';
import { TEST_WALLET_ID, testWallet } from './test-wallet';

/** The wallets that have announced themselves. */
export function WalletChoice({ isInline = false }: { readonly isInline?: boolean }) {
  const { wallet: texts } = useTexts().texts.redeem;
  const connectors = useConnectors();
  const connect = useConnect();
  const choice = (
    <Stack gap="sm">
      {connectors.length === 0 && (
        <div>
          <Text fw={600}>{texts.none}</Text>
          <Text size="sm" c="dimmed">
            {texts.noneMore}
          </Text>
        </div>
      )}
      {connectors.map((connector) => (
        <WalletButton
          key={connector.uid}
          connector={connector}
          isBusy={connect.isPending && connect.variables.connector === connector}
          onChoose={() => {
            connect.mutate({ connector });
          }}
        />
      ))}
      {connect.isError && (
        <Alert color="yellow" role="alert">
          {texts.rejected}
        </Alert>
      )}
    </Stack>
  );
  if (isInline) return choice;
  return (
    <Card withBorder padding="lg" maw={480} w="100%" mx="auto" component="section">
      <Stack gap="md">
        <div>
          <Title order={2} size="h3">
            {texts.title}
          </Title>
          <Text size="sm" c="dimmed">
            {texts.why}
          </Text>
        </div>
        {choice}
      </Stack>
    </Card>
  );
}

interface WalletButtonProps {
  readonly connector: Connector;
  readonly isBusy: boolean;
  readonly onChoose: () => void;
}

function WalletButton({ connector, isBusy, onChoose }: WalletButtonProps) {
  const { wallet: texts } = useTexts().texts.redeem;
  const isTest = connector.id === TEST_WALLET_ID;
  const icon = connector.icon?.startsWith('data:image/') === true ? connector.icon : undefined;
  return (
    <>
      {isTest && <TestAccount />}
      <Button
        variant="default"
        size="md"
        fullWidth
        justify="start"
        loading={isBusy}
        leftSection={icon && <Image src={icon} alt="" w={24} h={24} radius="sm" />}
        onClick={onChoose}
      >
        <span className="text-of-others">{texts.connect(connector.name.slice(0, 60))}</span>
      </Button>
    </>
  );
}

function TestAccount() {
  const { wallet: texts } = useTexts().texts.redeem;
  const accounts = useQuery({
    queryKey: ['test-accounts'],
    queryFn: async () => {
      const wallet = testWallet();
      return { all: (await wallet?.accounts()) ?? [], first: (await wallet?.chosen()) ?? null };
    },
  });
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Select
      label="Test wallet"
      description={texts.test}
      data={[...(accounts.data?.all ?? [])]}
      value={chosen ?? accounts.data?.first ?? null}
      allowDeselect={false}
      onChange={(account) => {
        setChosen(account);
        if (account !== null) testWallet()?.choose(account);
      }}
    />
  );
}
