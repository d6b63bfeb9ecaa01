import { Anchor, Stack, Text, Title } from '@mantine/core';
import { useTexts } from '../texts/texts-context';

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
