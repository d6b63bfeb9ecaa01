import { Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { PageTitle } from './page-title';
import { SIGNED_IN_CHANNEL } from './signed-in';
import { texts } from './texts';

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
