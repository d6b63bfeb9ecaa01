import { Alert, SimpleGrid, Stack } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useConnection, WagmiProvider } from 'wagmi';
import { useTexts } from '../texts/texts-context';
import { type BrowserWallet } from '../wallets/browser-wallets';
import { useRedeemConfig } from './config-context';
import { PartnersPanel } from './partners/partners-panel';
import { RedemptionsPanel } from './redemptions/redemptions-panel';
import { useRedemptions } from './redemptions/redemptions-query';
import { type Session, useSession } from './session/session-store';
import { AccountBar } from './wallet/account-bar';
import { SignInCard } from './wallet/sign-in-card';
import { createWallets, useConnectWallet } from './wallet/wagmi-config';
import { WalletChoice } from './wallet/wallet-choice';
import { WalletNotice } from './wallet/wallet-notice';

interface PlayerPageProps {
  /** A wallet to connect at once. */
  readonly chosen: BrowserWallet | undefined;
}

export function PlayerPage({ chosen }: PlayerPageProps) {
  const config = useRedeemConfig();
  const [wallets] = useState(() => createWallets(config));
  return (
    <WagmiProvider config={wallets} reconnectOnMount={false}>
      <WithWallets chosen={chosen} />
    </WagmiProvider>
  );
}

function WithWallets({ chosen }: PlayerPageProps) {
  const session = useSession();
  const { address } = useConnection();
  const connecting = useConnectWallet();
  useEffect(() => {
    if (chosen !== undefined) connecting.choose(chosen);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each choice
  }, [chosen]);
  if (session !== undefined) return <SignedIn key={session.wallet} session={session} />;
  if (address !== undefined) return <SignInCard wallet={address} />;
  return <WalletChoice choosing={connecting} />;
}

function SignedIn({ session }: { readonly session: Session }) {
  const redemptions = useRedemptions(session.wallet);
  const items = redemptions.data?.items ?? [];
  return (
    <Stack gap="lg">
      <AccountBar
        session={session}
        needsWallet={items.some(({ stage }) => stage === 'authorised')}
      />
      <PayoutsNotice />
      <WalletNotice redemptions={items} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="xl">
        <PartnersPanel wallet={session.wallet} redemptions={items} />
        <RedemptionsPanel wallet={session.wallet} redemptions={redemptions} />
      </SimpleGrid>
    </Stack>
  );
}

/** Announces that payouts are unavailable, once for all partners and before a player tries to redeem. */
function PayoutsNotice() {
  const { payouts: words } = useTexts().texts.redeem;
  const { available, reason } = useRedeemConfig().chain.payouts;
  if (available || reason === null) return null;
  return (
    <Alert color="yellow" role="status">
      {words[reason]}
    </Alert>
  );
}
