import { Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { PageTitle } from './page-title';
import { texts } from './texts';
import { AREA_OF } from '../session/areas';
import { type Kind } from '../session/use-session';

/** The last page of a window for another sign-in: it notifies the waiting page and closes its window. */
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

/** Name of the channel through which a sign-in window notifies the page that opened it. */
export const SIGNED_IN_CHANNEL = 'lowmark-signed-in';

/** The place where a sign-in window ends. @param name of the waiting page */
export function signedInPlace(kind: Kind, name: string): string {
  return `${AREA_OF[kind]}/signed-in#${name}`;
}

export class WindowBlockedError extends Error {
  override readonly name = 'WindowBlockedError';
}
