/** A new language needs one file beside this one, and a line in each table of this file. */
import { tellConsole } from '../shell/tell-console';
import { en, type Texts } from './en';

export const LANGUAGES = [
  { code: 'en', name: 'English' },
  { code: 'de', name: 'Deutsch' },
] as const;

export type Language = (typeof LANGUAGES)[number]['code'];

/** English is loaded at the start, other languages when they are chosen. */
export const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import('./de')).de,
};

const KEPT_AS = 'lowmark-language';

/** The language chosen earlier, else the browser's, else English. */
export function firstLanguage(): Language {
  const wanted = [localStorage.getItem(KEPT_AS), ...navigator.languages];
  const codes = wanted.map((one) => one?.slice(0, 2).toLowerCase());
  const known = codes.map((wantedCode) => LANGUAGES.find(({ code }) => code === wantedCode)?.code);
  return known.find((code) => code !== undefined) ?? 'en';
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(KEPT_AS, language);
  tellConsole('lowmark-language', language);
}

/** The locale for numbers and times: the browser's variant of the language, such as `en-GB`, else the language. */
export function localeOf(language: Language): string {
  return navigator.languages.find((one) => one.startsWith(`${language}-`)) ?? language;
}
