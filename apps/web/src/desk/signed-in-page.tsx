import { Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { PageTitle } from './page-title';
import { texts } from './texts';
import { AREA_OF } from '../session/areas';
import { type Kind } from '../session/use-session';

/** The last page of a window that was opened to sign in again: it tells the page that waits, and closes itself. */
export function SignedInPage() {
  useEffect(() => {
    const channel = new BroadcastChannel(SIGNED_IN_CHANNEL);
    channel.postMessage(location.hash.slice(1));
    channel.close();
    close();
  }, []);
  return (
    <Stack maw={480} mx="auto">
      <PageTitle>{texts.signedIn.title}</PageTitle>
      <Text>{texts.signedIn.more}</Text>
    </Stack>
  );
}

/** By which a window in which someone has signed in tells the page that opened it. */
export const SIGNED_IN_CHANNEL = 'lowmark-signed-in';

/** Where such a window ends. @param name of the page that waits for it */
export function signedInPlace(kind: Kind, name: string): string {
  return `${AREA_OF[kind]}/signed-in#${name}`;
}

export class WindowBlockedError extends Error {
  override readonly name = 'WindowBlockedError';
}
