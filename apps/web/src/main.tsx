import '@mantine/core/styles/baseline.layer.css';
import '@mantine/core/styles/default-css-variables.layer.css';
import '@mantine/core/styles/global.layer.css';
import './main.css';
import {
  localStorageColorSchemeManager,
  MantineProvider,
  type MantineColorSchemeManager,
} from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { startTransition, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client';
import { router } from './router';
import { applyStyleSheets } from './shell/style-sheets';
import { tellConsole } from './shell/tell-console';
import { loadFirstTexts, TextsProvider } from './texts/texts-context';
import { watchUpgrades } from './shell/upgrades';
import { theme } from './theme';

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
