import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { en, type Texts } from './en';
import { firstLanguage, keepLanguage, type Language, LOADERS, localeOf } from './languages';

interface TextsValue {
  readonly texts: Texts;
  readonly language: Language;
  /** For numbers and times. */
  readonly locale: string;
  readonly setLanguage: (language: Language) => void;
}

const TextsContext = createContext<TextsValue | undefined>(undefined);

/** The texts of the pages in the language of the reader. */
export function TextsProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage);
  const [texts, setTexts] = useState<Texts | undefined>(language === 'en' ? en : undefined);
  useEffect(() => {
    let isWanted = true;
    void LOADERS[language]().then((loaded) => {
      if (!isWanted) return;
      setTexts(loaded);
    });
    return () => {
      isWanted = false;
    };
  }, [language]);
  const value = useMemo(
    () =>
      texts && {
        texts,
        language,
        locale: localeOf(language),
        setLanguage: (chosen: Language) => {
          keepLanguage(chosen);
          setLanguage(chosen);
        },
      },
    [texts, language],
  );
  return value && <TextsContext value={value}>{children}</TextsContext>;
}

const ENGLISH: TextsValue = {
  ...{ texts: en, language: 'en', locale: localeOf('en') },
  setLanguage: () => undefined,
};

/** Around what is in English only, whatever the reader chose for the rest. */
export function InEnglish({ children }: { readonly children: ReactNode }) {
  return <TextsContext value={ENGLISH}>{children}</TextsContext>;
}

export function useTexts(): TextsValue {
  const value = use(TextsContext);
  if (value === undefined) throw new Error('useTexts needs a TextsProvider above it.');
  return value;
}
