import { createContext, type ReactNode, use, useMemo, useState } from 'react';
import { en, type Texts } from './en';
import { firstLanguage, keepLanguage, type Language, LOADERS, localeOf } from './languages';

interface Said {
  readonly language: Language;
  readonly texts: Texts;
}

interface TextsValue extends Said {
  readonly locale: string;
  readonly setLanguage: (language: Language) => void;
}

const TextsContext = createContext<TextsValue | undefined>(undefined);

async function load(language: Language): Promise<Said> {
  return { language, texts: await LOADERS[language]() };
}

export function loadFirstTexts(): Promise<Said> {
  // English is the fallback where the language's file cannot be loaded.
  return load(firstLanguage()).catch(() => load('en'));
}

interface TextsProviderProps {
  readonly first: Said;
  readonly children: ReactNode;
}

/** Provides the texts of the pages in the reader's language. */
export function TextsProvider({ first, children }: TextsProviderProps) {
  const [said, setSaid] = useState(first);
  const value = useMemo(
    () => ({
      ...said,
      locale: localeOf(said.language),
      setLanguage: (chosen: Language) => {
        void load(chosen).then((loaded) => {
          keepLanguage(chosen);
          setSaid(loaded);
        });
      },
    }),
    [said],
  );
  return <TextsContext value={value}>{children}</TextsContext>;
}

const ENGLISH: TextsValue = {
  ...{ texts: en, language: 'en', locale: localeOf('en') },
  setLanguage: () => undefined,
};

/** Provides English texts for pages that exist in English only. */
export function InEnglish({ children }: { readonly children: ReactNode }) {
  return <TextsContext value={ENGLISH}>{children}</TextsContext>;
}

export function useTexts(): TextsValue {
  const value = use(TextsContext);
  if (value === undefined) throw new Error('useTexts needs a TextsProvider above it.');
  return value;
}
