const YEAR_SECONDS = 365 * 24 * 3600;

/** Reports a choice, which the console applies to the next document. See `apps/console/src/pages/serve-pages.ts`. */
export function tellConsole(name: 'lowmark-language' | 'lowmark-scheme', value: string): void {
  document.cookie = `${name}=${value}; path=/; max-age=${YEAR_SECONDS}; samesite=strict`;
}
