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

// Where what locks the page behind a dialog looks for the nonce of its style.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const kept = localStorageColorSchemeManager();

/** Light or dark, as it was chosen; all tabs have the same. */
const keptColorScheme: MantineColorSchemeManager = {
  ...kept,
  set(scheme) {
    kept.set(scheme);
    tellConsole('lowmark-scheme', scheme);
  },
};

watchUpgrades();

/** Makes the style sheets apply that the document has begun to load; see `apps/web/documents.mjs`. Resolves when all of them do, or have failed. */
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

/** The font of the system: nothing is loaded for it. */
const theme = createTheme({
  primaryColor: 'cyan',
  // 4.5:1 on white and on the dark background: WCAG 2.2, 1.4.3.
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  respectReducedMotion: true,
});

/** What the document shows stays until the page can take its place. Not awaited by this module: the files of the page import from it. */
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
  // In slices, between which a phone answers to a finger.
  startTransition(() => {
    createRoot(container).render(page);
  });
}

void start(root);
