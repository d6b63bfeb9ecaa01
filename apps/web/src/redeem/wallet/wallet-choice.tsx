import {
  Alert,
  Anchor,
  Button,
  Card,
  Group,
  Image,
  NativeSelect,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTexts } from '../../texts/texts-context';
import { type BrowserWallet, useBrowserWallets } from '../../wallets/browser-wallets';
import { WALLET_OFFERS } from '../../wallets/wallet-offers';
import { TEST_WALLET_ID, testWallet } from '../../wallets/test-wallet';
import { type WalletFailure } from './wallet-errors';

export interface Choosing {
  /** The wallet that is being connected. */
  readonly busy: BrowserWallet | undefined;
  /** Why the last attempt failed; undefined where it did not fail. */
  readonly failure: WalletFailure | undefined;
  choose(wallet: BrowserWallet): void;
}

interface WalletChoiceProps {
  readonly choosing: Choosing;
  /** Shown inside an element that has a title. */
  readonly isInline?: boolean;
}

/** The wallets that have announced themselves. */
export function WalletChoice({ choosing, isInline = false }: WalletChoiceProps) {
  const { wallet: texts } = useTexts().texts.redeem;
  const wallets = useBrowserWallets();
  const choice = (
    <Stack gap="sm">
      {wallets.length === 0 && <NoWallet />}
      {wallets.map((wallet) => (
        <WalletButton
          key={wallet.info.uuid}
          wallet={wallet}
          isBusy={choosing.busy === wallet}
          onChoose={() => choosing.choose(wallet)}
        />
      ))}
      <Text size="sm" role="status" aria-live="polite">
        {choosing.busy !== undefined && texts.connecting}
      </Text>
      {choosing.failure !== undefined && (
        <Alert color="yellow" role="alert">
          {texts[WORDS[choosing.failure]]}
        </Alert>
      )}
    </Stack>
  );
  if (isInline) return choice;
  return (
    <Card withBorder padding="lg" maw={480} w="100%" mx="auto" component="section">
      <Stack gap="md">
        <div>
          <Title order={2} size="h3" tabIndex={-1} data-focus-start>
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

/** What a wallet is, and where to get one; on a phone, the apps that open this page. */
function NoWallet() {
  const { wallet: texts } = useTexts().texts.redeem;
  const isPhone = useMediaQuery('(pointer: coarse) and (hover: none)', undefined, {
    getInitialValueInEffect: false,
  });
  const offers = WALLET_OFFERS.filter(({ open }) => !isPhone || open !== undefined);
  return (
    <Stack gap="xs">
      <Text fw={600}>{isPhone ? texts.noneOnPhone : texts.none}</Text>
      <Text size="sm" c="dimmed">
        {texts.whatIsOne}
      </Text>
      <Text size="sm">{isPhone ? texts.openIn : texts.install}</Text>
      {offers.map(({ name, site, open }) => (
        <Group key={name} gap="sm" justify="space-between">
          <Anchor href={isPhone ? open?.(location.href) : site} rel="noreferrer">
            {isPhone ? texts.openWith(name) : name}
          </Anchor>
          {isPhone && (
            <Anchor size="sm" href={site} rel="noreferrer">
              {texts.get(name)}
            </Anchor>
          )}
        </Group>
      ))}
      <Text size="sm" c="dimmed">
        {isPhone ? texts.afterOpening : texts.afterInstalling}
      </Text>
    </Stack>
  );
}

const WORDS = {
  rejected: 'rejected',
  requestOpen: 'requestOpen',
  tooLittleCoin: 'failed',
  failed: 'failed',
} as const satisfies Record<WalletFailure, string>;

interface WalletButtonProps {
  readonly wallet: BrowserWallet;
  readonly isBusy: boolean;
  readonly onChoose: () => void;
}

function WalletButton({ wallet: { info }, isBusy, onChoose }: WalletButtonProps) {
  const { wallet: texts } = useTexts().texts.redeem;
  const isTest = info.rdns === TEST_WALLET_ID;
  const icon = info.icon?.startsWith('data:image/') === true ? info.icon : undefined;
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
        <span className="text-of-others">{texts.connect(info.name.slice(0, 60))}</span>
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
      return { all: (await wallet?.accounts()) ?? [], first: (await wallet?.chosen()) ?? '' };
    },
  });
  const [chosen, setChosen] = useState<string>();
  return (
    <NativeSelect
      label="Test wallet"
      description={texts.test}
      data={[...(accounts.data?.all ?? [])]}
      value={chosen ?? accounts.data?.first ?? ''}
      onChange={({ currentTarget }) => {
        setChosen(currentTarget.value);
        testWallet()?.choose(currentTarget.value);
      }}
    />
  );
}
