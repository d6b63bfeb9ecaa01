import { Alert, Button, Card, Code, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiProblem } from '../api/api-problem';
import { consoleApi } from '../api/console-client';
import { type BrowserWallet, useBrowserWallets } from '../wallets/browser-wallets';
import { texts } from './texts';
import { AREA_OF, returnPlace } from './areas';
import { type Kind, rememberSession, type Session } from './use-session';
import { offerTestWallet, signInByWallet } from './wallet-sign-in';

interface SignInProps {
  readonly kind: Kind;
  /** Token of an invitation that the sign-in accepts. */
  readonly invitation?: string;
}

export function OperatorSignIn() {
  return <SignInPage kind="operator" />;
}

export function PartnerSignIn() {
  return <SignInPage kind="partner" />;
}

function SignInPage({ kind }: { readonly kind: Kind }) {
  const query = new URLSearchParams(location.search);
  const problem = query.get('problem');
  return (
    <Card withBorder padding="lg" maw={480} mx="auto" component="section">
      <Stack>
        <Title order={1} size="h2">
          {texts.title[kind]}
        </Title>
        {query.has('ended') && (
          <Alert color="blue" role="status">
            {texts.ended}
          </Alert>
        )}
        {problem !== null && <ProblemAlert code={problem} />}
        <SignInWays kind={kind} />
      </Stack>
    </Card>
  );
}

/** Sign-in with the organisation's provider, or with a wallet of this browser. */
export function SignInWays({ kind, invitation }: SignInProps) {
  const { history } = useRouter();
  const ways = useQuery({
    queryKey: ['ways'],
    queryFn: async () => (await consoleApi.GET('/api/auth/ways')).data,
  });
  const returnTo = returnPlace(kind, location.search);
  const wish = { kind, ...(invitation !== undefined && { invitation }) };
  const oidc = useMutation({
    mutationFn: async () => {
      const body = { ...wish, returnTo };
      const { data } = await consoleApi.POST('/api/auth/oidc/start', { body });
      if (data !== undefined) location.assign(data.url);
    },
  });
  const wallet = useMutation({
    mutationFn: (chosen: BrowserWallet) =>
      signInByWallet(chosen, { ...wish, statement: texts.statement }),
    onSuccess: (session) => {
      rememberSession(session);
      history.push(session.kind === kind ? returnTo : AREA_OF[session.kind]);
    },
  });
  const problem = oidc.error ?? wallet.error ?? ways.error;
  const hasWallets = kind === 'partner' || ways.data?.operatorWallets === true;
  return (
    <Stack>
      {ways.data?.oidc === true && (
        <Button loading={oidc.isPending} onClick={() => oidc.mutate()}>
          {texts.oidc}
        </Button>
      )}
      {hasWallets && (
        <Wallets isBusy={wallet.isPending} onChoose={(chosen) => wallet.mutate(chosen)} />
      )}
      {kind === 'operator' && <LinkHint />}
      {problem !== null && <SignInProblem problem={problem} />}
    </Stack>
  );
}

function SignInProblem({ problem }: { readonly problem: Error }) {
  if (!(problem instanceof ApiProblem)) return <ProblemAlert code="REJECTED" />;
  const { code, message } = problem;
  // The message names the account, which the page does not know.
  return <ProblemAlert code={code} {...(code === 'NOT_AN_OPERATOR' && { message })} />;
}

/** The command line in a clone of the repository, and beside a compose file. */
const COMMANDS = ['npm run --silent cli --', './lowmark'] as const;

interface LinkHintProps {
  /** The current session, whose user the link must be for: another user could not continue what was begun. */
  readonly session?: Session;
}

/** The sign-in that is always available: a link printed by the command line. */
export function LinkHint({ session }: LinkHintProps) {
  // The name in a link's subject; users who signed in another way have none.
  const name = /^link:([a-z0-9-]+)$/.exec(session?.subject ?? '')?.[1];
  const wish = `--role ${session?.role ?? 'admin'}${name === undefined ? '' : ` --name '${name}'`}`;
  return (
    <div>
      <Text size="sm" c="dimmed">
        {texts.linkHint}
      </Text>
      {COMMANDS.map((command) => (
        <Code block key={command} mt={4} className="text-of-others arguments">
          {`${command} console link ${wish}`}
        </Code>
      ))}
    </div>
  );
}

interface WalletsProps {
  readonly isBusy: boolean;
  readonly onChoose: (wallet: BrowserWallet) => void;
}

export function Wallets({ isBusy, onChoose }: WalletsProps) {
  const wallets = useBrowserWallets();
  useEffect(() => void offerTestWallet(), []);
  if (wallets.length === 0) return <Text size="sm">{texts.noWallet}</Text>;
  return wallets.map((wallet) => (
    <Button
      key={wallet.info.uuid}
      variant="default"
      loading={isBusy}
      onClick={() => onChoose(wallet)}
    >
      <span className="text-of-others">{texts.wallet(wallet.info.name.slice(0, 60))}</span>
    </Button>
  ));
}

interface AlertProps {
  readonly code: string;
  /** Message of the server, where it says more than the page knows. */
  readonly message?: string;
}

export function ProblemAlert({ code, message }: AlertProps) {
  const { problems } = texts;
  const known: Readonly<Record<string, string>> = problems;
  return (
    <Alert color="yellow" role="alert" className="text-of-others">
      {message ?? (Object.hasOwn(known, code) ? known[code] : problems.other)}
    </Alert>
  );
}
