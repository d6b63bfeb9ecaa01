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

/** Asks for the sign-in that a request waits for, above the form that sent the request. */
export function FreshSignIn({ session }: { readonly session: Session }) {
  const isAsked = useSyncExternalStore(freshSignIn.subscribe, freshSignIn.isAsked);
  useEffect(() => {
    // Escape closes only this dialog. The listener of the dialog with the form runs later and is stopped.
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

/** Whether user and partner are the same. Another user has to check again what was about to be done. */
function isSame(one: Session, other: Session): boolean {
  const key = ({ kind, subject, partner }: Session) => [kind, subject, partner?.id].join(' ');
  return key(one) === key(other);
}

function SignInAgain({ before: current }: { readonly before: Session }) {
  // The session at the time of the request; the sign-in changes the current session.
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

/** Sign-in with a wallet in this window; with the organisation's provider or a link in another window. */
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

/** The organisation's sign-in in a separate window, which reports when it has ended. */
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
      // Opened directly by the click: browsers block a window that is opened later.
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
