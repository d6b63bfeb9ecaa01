import { Alert, SimpleGrid, Stack } from '@mantine/core';
import { useConnection } from 'wagmi';
import { useTexts } from '../texts/texts-context';
import { useRedeemConfig } from './config-context';
import { PartnersPanel } from './partners/partners-panel';
import { RedemptionsPanel } from './redemptions/redemptions-panel';
import { useRedemptions } from './redemptions/redemptions-query';
import { type Session, useSession } from './session/session-store';
import { AccountBar } from './wallet/account-bar';
import { SignInCard } from './wallet/sign-in-card';
import { WalletChoice } from './wallet/wallet-choice';

/** First a wallet, then its signature; who is signed in sees the points and the redemptions, even where the wallet is locked. */
export function RedeemPage() {
  const session = useSession();
  const { address } = useConnection();
  if (session !== undefined) return <SignedIn key={session.wallet} session={session} />;
  return address === undefined ? <WalletChoice /> : <SignInCard wallet={address} />;
}

function SignedIn({ session }: { readonly session: Session }) {
  const redemptions = useRedemptions(session.wallet);
  return (
    <Stack gap="lg">
      <AccountBar session={session} />
      <PayoutsNotice />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="xl">
        <PartnersPanel wallet={session.wallet} redemptions={redemptions.data?.items ?? []} />
        <RedemptionsPanel wallet={session.wallet} redemptions={redemptions} />
      </SimpleGrid>
    </Stack>
  );
}

/** Said once for all partners, before anybody tries. */
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
