import { ActionIcon, Anchor, AppShell, Group, Select, useMantineColorScheme } from '@mantine/core';
import { IconMoon, IconSun } from '@tabler/icons-react';
import { Outlet } from '@tanstack/react-router';
import { LANGUAGES } from '../texts/languages';
import { useTexts } from '../texts/texts-context';

/** What all pages have: the name, the language, light or dark, and the page itself. */
export function Shell() {
  const { texts } = useTexts();
  return (
    <AppShell header={{ height: 56 }} padding="md">
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Anchor href="/" fw={700} size="lg" underline="never">
            Lowmark
          </Anchor>
          <Group gap="xs" wrap="nowrap">
            <LanguageChoice />
            <ColorSchemeButton />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Main aria-label={texts.shell.main}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

function LanguageChoice() {
  const { texts, language, setLanguage } = useTexts();
  return (
    <Select
      aria-label={texts.shell.language}
      w={120}
      size="sm"
      allowDeselect={false}
      data={LANGUAGES.map(({ code, name }) => ({ value: code, label: name }))}
      value={language}
      onChange={(code) => {
        if (code !== null) setLanguage(code);
      }}
    />
  );
}

function ColorSchemeButton() {
  const { texts } = useTexts();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const isDark =
    colorScheme === 'dark' ||
    (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  return (
    <ActionIcon
      variant="default"
      size="input-sm"
      aria-label={isDark ? texts.shell.light : texts.shell.dark}
      onClick={() => {
        setColorScheme(isDark ? 'light' : 'dark');
      }}
    >
      {isDark ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}
