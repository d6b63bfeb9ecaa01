import '@mantine/core/styles/baseline.layer.css';
import '@mantine/core/styles/default-css-variables.layer.css';
import '@mantine/core/styles/global.layer.css';
import './main.css';
import {
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorSchemeManager,
  MantineProvider,
} from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { startTransition, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client';
import { router } from './router';
import { tellConsole } from './shell/tell-console';
import { loadFirstTexts, TextsProvider } from './texts/texts-context';
import { watchUpgrades } from './shell/upgrades';

const root = document.querySelector('#root');
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
if (root === null) throw new Error('The document has no #root.');

// The library that locks the page behind a dialog reads the nonce of its style from this global variable.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const kept = localStorageColorSchemeManager();

/** Stores the chosen colour scheme, which applies to all tabs, and reports it to the console. */
const keptColorScheme: MantineColorSchemeManager = {
  ...kept,
  set(scheme) {
    kept.set(scheme);
    tellConsole('lowmark-scheme', scheme);
  },
};

watchUpgrades();

/**
 * Applies the style sheets that the document has begun to load; see `apps/web/documents.mjs`. Resolves when each of
 * them is applied or has failed.
 */
async function applyStyleSheets(): Promise<void> {
  const links = document.querySelectorAll<HTMLLinkElement>('link[data-sheet]');
  await Promise.all(
    [...links].map(
      (link) =>
        new Promise<void>((resolve) => {
          const isOver = (): void => resolve();
          link.onload = isOver;
          link.onerror = isOver;
          link.rel = 'stylesheet';
        }),
    ),
  );
}

/** Mantine's theme. It uses the system's fonts, so that no font is loaded. */
const theme = createTheme({
  primaryColor: 'cyan',
  // Contrast of 4.5:1 on white and on the dark background: WCAG 2.2, 1.4.3.
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  respectReducedMotion: true,
});

/**
 * Renders the page, which replaces the document's content when it is complete. This module must not await it, since the
 * files of the page import from this module.
 */
async function start(container: Element): Promise<void> {
  const [texts] = await Promise.all([loadFirstTexts(), router.load(), applyStyleSheets()]);
  const page = (
    <StrictMode>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        colorSchemeManager={keptColorScheme}
        getStyleNonce={() => nonce}
      >
        <TextsProvider first={texts}>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </TextsProvider>
      </MantineProvider>
    </StrictMode>
  );
  // A transition renders in slices, so that a phone responds to touch in between.
  startTransition(() => {
    createRoot(container).render(page);
  });
}

void start(root);
