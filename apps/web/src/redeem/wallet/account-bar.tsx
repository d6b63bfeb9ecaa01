import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useConnection } from 'wagmi';
import { playerApi } from '../../api/player-client';
import { useTexts } from '../../texts/texts-context';
import { type Session, sessionStore } from '../session/session-store';
import { useConnectWallet } from './wagmi-config';
import { useSignIn } from './use-sign-in';
import { WalletChoice } from './wallet-choice';

interface AccountBarProps {
  readonly session: Session;
  /** There is a voucher to claim, or a claim to look up on the chain. */
  readonly needsWallet: boolean;
}

/** The signed-in wallet, and a notice where the connected wallet shows another account. */
export function AccountBar({ session, needsWallet }: AccountBarProps) {
  const { signIn: texts } = useTexts().texts.redeem;
  const { address, status } = useConnection();
  const client = useQueryClient();
  const signOut = async (): Promise<void> => {
    // The page signs out in any case; an unreachable service ends the session when it expires.
    await playerApi.POST('/api/auth/logout').catch(() => undefined);
    sessionStore.end('signed-out');
    client.removeQueries({ queryKey: ['redemptions'] });
    client.removeQueries({ queryKey: ['points'] });
    client.removeQueries({ queryKey: ['all-points'] });
  };
  const isOther = address !== undefined && address.toLowerCase() !== session.wallet;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm">
          {texts.signedInAs} <strong title={session.wallet}>{shortAddress(session.wallet)}</strong>
        </Text>
        <Button variant="default" onClick={() => void signOut()}>
          {texts.signOut}
        </Button>
      </Group>
      {isOther && <OtherAccount address={address} />}
      {status === 'disconnected' && needsWallet && <Reconnect />}
    </Stack>
  );
}

function OtherAccount({ address }: { readonly address: string }) {
  const { wallet: texts, signIn: signInTexts } = useTexts().texts.redeem;
  const signIn = useSignIn();
  return (
    <Alert color="yellow" role="status">
      <Stack gap="sm" align="start">
        <Text size="sm">{texts.otherAccount(shortAddress(address))}</Text>
        <Button
          variant="default"
          loading={signIn.step !== undefined}
          onClick={() => void signIn.begin(address)}
        >
          {texts.signInAs}
        </Button>
        {signIn.step !== undefined && <Text size="sm">{signInTexts[signIn.step]}</Text>}
        {signIn.problem !== undefined && <Text size="sm">{signIn.problem}</Text>}
      </Stack>
    </Alert>
  );
}

function Reconnect() {
  const { wallet: texts } = useTexts().texts.redeem;
  const connecting = useConnectWallet();
  return (
    <Alert color="blue" role="status">
      <Stack gap="sm" maw={420}>
        <Text size="sm">{texts.reconnect}</Text>
        <WalletChoice choosing={connecting} isInline />
      </Stack>
    </Alert>
  );
}

/** Shortens an address to `0x1234…abcd`. */
export function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}
