import { Alert, em, SimpleGrid, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useConnection, WagmiProvider } from 'wagmi';
import { useTexts } from '../texts/texts-context';
import { type BrowserWallet } from '../wallets/browser-wallets';
import { useRedeemConfig } from './config-context';
import { useAllPoints } from './partners/partner-queries';
import { PartnersPanel } from './partners/partners-panel';
import { ClaimBar } from './redemptions/claim-bar';
import { hasEnded } from './redemptions/redemption-phase';
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
  const items = redemptions.data ?? [];
  const isNarrow = useMediaQuery(`(max-width: ${em(TWO_COLUMNS_PX - 1)})`);
  const points = <PartnersPanel key="points" wallet={session.wallet} redemptions={items} />;
  const list = <RedemptionsPanel key="list" wallet={session.wallet} redemptions={redemptions} />;
  const isListFirst = isNarrow && items.some((one) => !hasEnded(one));
  return (
    <Stack gap="lg">
      <AccountBar
        session={session}
        needsWallet={items.some(({ stage }) => stage === 'authorised')}
      />
      <PayoutsNotice />
      <PriceNotice wallet={session.wallet} />
      <WalletNotice redemptions={items} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="xl">
        {isListFirst ? [list, points] : [points, list]}
      </SimpleGrid>
      {isListFirst && <ClaimBar redemptions={items} />}
    </Stack>
  );
}

/** Mantine's breakpoint `md`, from which points and redemptions are beside each other. */
const TWO_COLUMNS_PX = 992;

/** Announces that no price can be used, and until when, once for all partners. */
function PriceNotice({ wallet }: { readonly wallet: string }) {
  const { prices: words } = useTexts().texts.redeem;
  const { data } = useAllPoints(wallet);
  const codes = data?.map(({ limits }) => limits.refusal?.code);
  const code = (['PRICE_UNAVAILABLE', 'PRICE_STALE'] as const).find((one) => codes?.includes(one));
  if (code === undefined) return null;
  return (
    <Alert color="yellow" role="status" title={words.title}>
      {words[code]} {words.meanwhile}
    </Alert>
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
