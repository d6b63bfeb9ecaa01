import { Anchor, Button, Stack, Text, Title } from '@mantine/core';
import { useTexts } from '../texts/texts-context';

/**
 * Replaces a page that failed. The error is only written to the browser's console, because it may contain a player's
 * data.
 */
export function CrashPage() {
  const { crash } = useTexts().texts.shell;
  return (
    <Stack align="start" maw={640} mx="auto" role="alert">
      <Title order={1} size="h2">
        {crash.title}
      </Title>
      <Text>{crash.more}</Text>
      <Button onClick={() => location.reload()}>{crash.reload}</Button>
    </Stack>
  );
}

export function NotFoundPage() {
  const { texts } = useTexts();
  return (
    <Stack align="start" maw={640} mx="auto">
      <Title order={1}>{texts.shell.notFound}</Title>
      <Text>{texts.shell.notFoundMore}</Text>
      <Anchor href="/">{texts.shell.home}</Anchor>
    </Stack>
  );
}
