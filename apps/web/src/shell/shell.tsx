import { ActionIcon, Group, NativeSelect, useMantineColorScheme } from '@mantine/core';
import { IconMoon, IconSun } from '@tabler/icons-react';
import { Outlet } from '@tanstack/react-router';
import { LANGUAGES } from '../texts/languages';
import { useTexts } from '../texts/texts-context';

/** What all pages have: the name, the language, light or dark, and the page itself. Its styles are in the document: `shell.css`. */
export function Shell() {
  const { texts } = useTexts();
  return (
    <>
      <header className="shell-header">
        <a className="shell-brand" href="/">
          Lowmark
        </a>
        <Group gap="xs" wrap="nowrap">
          <LanguageChoice />
          <ColorSchemeButton />
        </Group>
      </header>
      <main className="shell-main" aria-label={texts.shell.main}>
        <Outlet />
      </main>
    </>
  );
}

function LanguageChoice() {
  const { texts, language, setLanguage } = useTexts();
  return (
    <NativeSelect
      aria-label={texts.shell.language}
      w={120}
      size="sm"
      data={LANGUAGES.map(({ code, name }) => ({ value: code, label: name }))}
      value={language}
      onChange={({ currentTarget }) => {
        const chosen = LANGUAGES.find(({ code }) => code === currentTarget.value);
        if (chosen !== undefined) setLanguage(chosen.code);
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
