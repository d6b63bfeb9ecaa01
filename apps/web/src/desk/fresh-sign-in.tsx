import { Alert, Button, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Dialog } from './dialog';
import { ApiProblem } from '../api/api-problem';
import { consoleApi } from '../api/console-client';
import { freshSignIn } from '../api/fresh-sign-in';
import { serverNowMs } from '../api/server-clock';
import { signInByWallet } from '../session/wallet-sign-in';
import { type BrowserWallet } from '../wallets/browser-wallets';
import { LinkHint, ProblemAlert, Wallets } from '../session/sign-in-page';
import { texts as shared } from '../session/texts';
import { rememberSession, type Session } from '../session/use-session';
import { SIGNED_IN_CHANNEL, signedInPlace, WindowBlockedError } from './signed-in-page';
import { texts } from './texts';

const words = texts.fresh;

/** Asks for the sign-in that a request waits for, above the form that sent it. */
export function FreshSignIn({ session }: { readonly session: Session }) {
  const isAsked = useSyncExternalStore(freshSignIn.subscribe, freshSignIn.isAsked);
  useEffect(() => {
    // It closes this dialog, and not the one with the form as well, which listens later.
    const leave = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || !freshSignIn.isAsked()) return;
      event.stopImmediatePropagation();
      freshSignIn.end(false);
    };
    addEventListener('keydown', leave, { capture: true });
    return () => {
      removeEventListener('keydown', leave, { capture: true });
      freshSignIn.end(false);
    };
  }, []);
  return isAsked ? <SignInAgain before={session} /> : null;
}

/** Who it is, and for whom they act: another one must look again at what was about to be done. */
function isSame(one: Session, other: Session): boolean {
  const key = ({ kind, subject, partner }: Session) => [kind, subject, partner?.id].join(' ');
  return key(one) === key(other);
}

function SignInAgain({ before: current }: { readonly before: Session }) {
  // As it was when the request was sent: the sign-in changes it.
  const [before] = useState(current);
  const [other, setOther] = useState<Session>();
  const signedIn = (after: Session): void => {
    rememberSession(after);
    if (isSame(before, after)) freshSignIn.end(true);
    else setOther(after);
  };
  const cancel = (): void => freshSignIn.end(false);
  return (
    <Dialog onClose={cancel} title={words.title} centered closeOnClickOutside={false}>
      {other === undefined ? (
        <Ways session={before} onSignedIn={signedIn} />
      ) : (
        <Stack>
          <Text className="text-of-others">{words.changed(other.name)}</Text>
          <Button onClick={cancel}>{words.understood}</Button>
        </Stack>
      )}
    </Dialog>
  );
}

interface WaysProps {
  readonly session: Session;
  readonly onSignedIn: (session: Session) => void;
}

/** By a wallet here; by the organisation, or by a link, in another window of the browser. */
function Ways({ session, onSignedIn }: WaysProps) {
  const { kind } = session;
  const ways = useQuery({
    queryKey: ['ways'],
    queryFn: async () => (await consoleApi.GET('/api/auth/ways')).data,
  });
  const wallet = useMutation({
    mutationFn: (chosen: BrowserWallet) =>
      signInByWallet(chosen, { kind, statement: shared.statement }),
    onSuccess: onSignedIn,
  });
  const look = useMutation({
    mutationFn: async () => (await consoleApi.GET('/api/auth/me')).data,
    onSuccess: (session) => {
      if (session !== undefined && isFresh(session)) onSignedIn(session);
    },
  });
  const oidc = useWindow(kind, look.mutate);
  const isOld = look.data !== undefined && !isFresh(look.data);
  const problem = wallet.error ?? oidc.error ?? look.error ?? ways.error;
  return (
    <Stack>
      <Text>{freshSignIn.reason() === 'FRESH_SIGN_IN_NEEDED' ? words.why : words.ended}</Text>
      {ways.data?.oidc === true && (
        <>
          <Button loading={oidc.isPending} onClick={() => oidc.mutate()}>
            {shared.oidc}
          </Button>
          <Text size="sm">{words.oidcWindow}</Text>
        </>
      )}
      {(kind === 'partner' || ways.data?.operatorWallets === true) && (
        <Wallets isBusy={wallet.isPending} onChoose={wallet.mutate} />
      )}
      {kind === 'operator' && <LinkHint session={session} />}
      <Button variant="default" loading={look.isPending} onClick={() => look.mutate()}>
        {words.elsewhere}
      </Button>
      {isOld && <Alert color="yellow" variant="outline" role="alert" title={words.notYet} />}
      {problem instanceof WindowBlockedError ? (
        <Alert color="yellow" variant="outline" role="alert" title={words.noWindow} />
      ) : (
        problem !== null && (
          <ProblemAlert code={problem instanceof ApiProblem ? problem.code : 'REJECTED'} />
        )
      )}
    </Stack>
  );
}

function isFresh({ freshUntil }: Session): boolean {
  return Date.parse(freshUntil) > serverNowMs();
}

/** The organisation's sign-in in a window of its own, which says when it has ended. */
function useWindow(kind: Session['kind'], onEnded: () => void) {
  const [name] = useState(() => crypto.getRandomValues(new Uint32Array(4)).join('-'));
  useEffect(() => {
    const channel = new BroadcastChannel(SIGNED_IN_CHANNEL);
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data === name) onEnded();
    };
    return () => channel.close();
  }, [name, onEnded]);
  return useMutation({
    mutationFn: async () => {
      // At once, by the click: a window that is opened later is blocked.
      const opened = open('about:blank', '_blank', 'popup,width=520,height=720');
      if (opened === null) throw new WindowBlockedError();
      try {
        const body = { kind, returnTo: signedInPlace(kind, name), fresh: true };
        const { data } = await consoleApi.POST('/api/auth/oidc/start', { body });
        opened.location.replace(data?.url ?? 'about:blank');
      } catch (error) {
        opened.close();
        throw error;
      }
    },
  });
}
