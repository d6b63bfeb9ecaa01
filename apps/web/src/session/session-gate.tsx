import { Alert, Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { texts } from './texts';
import { signInPlace } from './areas';
import { type Kind, type Session, signOut, useSession } from './use-session';

interface GateProps {
  readonly kind: Kind;
  readonly children: (session: Session) => ReactNode;
}

/** Restricts an area to signed-in users; others are led to its sign-in page and then back. */
export function SessionGate({ kind, children }: GateProps) {
  const { data, isError, refetch } = useSession();
  const { history } = useRouter();
  const isIn = data?.kind === kind;
  const isOut = data !== undefined && !isIn;
  /** Whether the person was signed in here and did not sign out. */
  const wasIn = useRef(false);
  useEffect(() => {
    if (isIn) wasIn.current = true;
    if (isOut) history.replace(signInPlace(kind, wasIn.current));
  }, [isIn, isOut, kind, history]);
  if (isIn) {
    return (
      <Stack>
        <SessionBar
          session={data}
          onSignOut={() => {
            wasIn.current = false;
            void signOut();
          }}
        />
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

interface SessionBarProps {
  readonly session: Session;
  readonly onSignOut: () => void;
}

function SessionBar({ session, onSignOut }: SessionBarProps) {
  return (
    <Group justify="space-between">
      <Text size="sm">
        <strong className="text-of-others" title={session.name}>
          {shortName(session.name)}
        </strong>{' '}
        <span className="text-of-others">{session.partner?.name ?? session.role}</span>
      </Text>
      <Button variant="default" onClick={onSignOut}>
        {texts.signOut}
      </Button>
    </Group>
  );
}

/** Shortens the name of a wallet's user, which is its address, to the beginning and the end. */
function shortName(name: string): string {
  return name.replace(/^(0x[0-9a-f]{4})[0-9a-f]{32}([0-9a-f]{4})$/i, '$1…$2');
}
