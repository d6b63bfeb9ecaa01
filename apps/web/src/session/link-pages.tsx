import { Card, Loader, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';
import { ApiProblem } from '../api/api-problem';
import { consoleApi } from '../api/console-client';
import { texts } from './texts';
import { AREA_OF, takeToken } from './areas';
import { ProblemAlert, SignInWays } from './sign-in-page';
import { rememberSession, type Session } from './use-session';

/** The token of the last read; React may call `tokenOfPage` twice. */
let taken = '';
function tokenOfPage(): string {
  if (location.hash.length > 1) taken = takeToken();
  return taken;
}

/** Subscribes to new links. A link pasted into an old link's tab changes only the part after #, without a reload. */
function onNewLink(look: () => void): () => void {
  addEventListener('hashchange', look);
  return () => removeEventListener('hashchange', look);
}

interface TokenProps {
  readonly token: string;
}

export function LinkPage() {
  const token = useSyncExternalStore(onNewLink, tokenOfPage);
  return <LinkSignIn key={token} token={token} />;
}

function LinkSignIn({ token }: TokenProps) {
  const { history } = useRouter();
  const { mutate, error, isPending, isSuccess } = useMutation({
    mutationFn: async () => {
      if (token === '') throw new LinkIncompleteError();
      return (await consoleApi.POST('/api/auth/link', { body: { token } })).data;
    },
    onSuccess: (session) => {
      rememberSession(session as Session);
      history.replace(AREA_OF[(session as Session).kind]);
    },
  });
  useEffect(() => {
    mutate();
  }, [mutate]);
  return (
    <Card withBorder padding="lg" maw={480} mx="auto" component="section">
      <Stack>
        <Title order={1} size="h2">
          {texts.link}
        </Title>
        {(isPending || isSuccess) && <Loader role="status" aria-label={texts.loading} />}
        {error !== null && <ProblemAlert code={codeOf(error)} />}
      </Stack>
    </Card>
  );
}

/** An invitation to act for a partner, with the partner's name and the ways to accept it. */
export function InvitationPage() {
  const token = useSyncExternalStore(onNewLink, tokenOfPage);
  return <Invitation key={token} token={token} />;
}

function Invitation({ token }: TokenProps) {
  const { mutate, data, error } = useMutation({
    mutationFn: async () => {
      if (token === '') throw new LinkIncompleteError();
      return (await consoleApi.POST('/api/auth/invitation', { body: { token } })).data;
    },
  });
  useEffect(() => {
    mutate();
  }, [mutate]);
  return (
    <Card withBorder padding="lg" maw={480} mx="auto" component="section">
      <Stack>
        <Title order={1} size="h2">
          {texts.invitation}
        </Title>
        {data !== undefined && (
          <>
            <Text>
              {texts.invitedBy} <strong className="text-of-others">{data.partner.name}</strong>
            </Text>
            <SignInWays kind="partner" invitation={token} />
          </>
        )}
        {error !== null && <ProblemAlert code={codeOf(error)} />}
      </Stack>
    </Card>
  );
}

/** The address has no token after the #. */
class LinkIncompleteError extends Error {
  override readonly name = 'LinkIncompleteError';
}

function codeOf(error: Error): string {
  if (error instanceof LinkIncompleteError) return 'LINK_INCOMPLETE';
  return error instanceof ApiProblem ? error.code : 'UNREACHABLE';
}
