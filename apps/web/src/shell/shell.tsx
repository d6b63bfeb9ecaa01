import { ActionIcon, Group, NativeSelect, useMantineColorScheme } from '@mantine/core';
import { IconMoon, IconSun } from '@tabler/icons-react';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { LANGUAGES } from '../texts/languages';
import { InEnglish, useTexts } from '../texts/texts-context';

/** The areas of operators and partners, and the pages that sign in to them. */
const IN_ENGLISH = /^\/(?:operate|partner|sign-in)(?:\/|$)/;

/**
 * The frame of all pages: the name, the colour scheme, and the page; on translated pages also the language. Its styles
 * (`shell.css`) are part of the document.
 */
export function Shell() {
  const isInEnglish = useRouterState({
    select: ({ location }) => IN_ENGLISH.test(location.pathname),
  });
  if (!isInEnglish) return <Frame hasLanguages />;
  return (
    <InEnglish>
      <Frame hasLanguages={false} />
    </InEnglish>
  );
}

function Frame({ hasLanguages }: { readonly hasLanguages: boolean }) {
  const { texts, language } = useTexts();
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return (
    <>
      <header className="shell-header">
        <a className="shell-brand" href="/">
          Lowmark
        </a>
        <Group gap="xs" wrap="nowrap">
          {hasLanguages && <LanguageChoice />}
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
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      {isDark ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}
