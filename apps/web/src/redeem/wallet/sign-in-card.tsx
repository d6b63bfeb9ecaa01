import { Alert, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useConnection, useDisconnect } from 'wagmi';
import { useTexts } from '../../texts/texts-context';
import { useSessionEnd } from '../session/session-store';
import { rememberWallet } from '../../wallets/browser-wallets';
import { shortAddress } from './account-bar';
import { useSignIn } from './use-sign-in';

/** Lets a connected wallet sign a message that starts the session. */
export function SignInCard({ wallet }: { readonly wallet: string }) {
  const { signIn: texts, wallet: walletTexts } = useTexts().texts.redeem;
  const { connector } = useConnection();
  const disconnect = useDisconnect();
  const end = useSessionEnd();
  const signIn = useSignIn();
  return (
    <Card withBorder padding="lg" maw={480} w="100%" mx="auto" component="section">
      <Stack gap="md">
        {end !== undefined && signIn.step === undefined && (
          <Alert color="blue" role="status">
            {end === 'expired' ? texts.expired : texts.signedOut}
          </Alert>
        )}
        <div>
          <Title order={2} size="h3" tabIndex={-1} data-focus-start>
            {texts.title}
          </Title>
          <Text size="sm" c="dimmed">
            {texts.why}
          </Text>
        </div>
        <Text size="sm">
          {walletTexts.connected}:{' '}
          <span className="text-of-others">{connector?.name.slice(0, 60)}</span>,{' '}
          <span title={wallet}>{shortAddress(wallet)}</span>
        </Text>
        <Group>
          <Button loading={signIn.step !== undefined} onClick={() => void signIn.begin(wallet)}>
            {texts.button}
          </Button>
          <Button
            variant="default"
            onClick={() => {
              rememberWallet(undefined);
              disconnect.mutate({});
            }}
          >
            {walletTexts.disconnect}
          </Button>
        </Group>
        <Text size="sm" role="status" aria-live="polite">
          {signIn.step !== undefined && texts[signIn.step]}
        </Text>
        {signIn.problem !== undefined && (
          <Alert color="yellow" role="alert">
            {signIn.problem}
          </Alert>
        )}
      </Stack>
    </Card>
  );
}
