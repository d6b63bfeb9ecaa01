import { Alert, Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { useTexts } from '../texts/texts-context';
import { signInPlace } from './areas';
import { type Kind, type Session, signOut, useSession } from './use-session';

interface GateProps {
  readonly kind: Kind;
  readonly children: (session: Session) => ReactNode;
}

/** An area for those who are signed in; others are led to its sign-in, and back to where they were. */
export function SessionGate({ kind, children }: GateProps) {
  const { session: texts } = useTexts().texts;
  const { data, isError, refetch } = useSession();
  const { history } = useRouter();
  const isIn = data?.kind === kind;
  const isOut = data !== undefined && !isIn;
  useEffect(() => {
    if (isOut) history.replace(signInPlace(kind));
  }, [isOut, kind, history]);
  if (isIn) {
    return (
      <Stack>
        <SessionBar session={data} />
        {children(data)}
      </Stack>
    );
  }
  if (isError) {
    return (
      <Alert color="yellow" role="alert" title={texts.unavailable}>
        <Button variant="default" onClick={() => void refetch()}>
          {texts.retry}
        </Button>
      </Alert>
    );
  }
  return <Loader role="status" aria-label={texts.loading} mx="auto" />;
}

function SessionBar({ session }: { readonly session: Session }) {
  const { session: texts } = useTexts().texts;
  return (
    <Group justify="space-between">
      <Text size="sm">
        <strong className="text-of-others">{session.name}</strong>{' '}
        <span className="text-of-others">{session.partner?.name ?? session.role}</span>
      </Text>
      <Button variant="default" onClick={() => void signOut()}>
        {texts.signOut}
      </Button>
    </Group>
  );
}
