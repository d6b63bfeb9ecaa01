import '@mantine/core/styles.css';
import './main.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client';
import { router } from './router';
import { TextsProvider } from './texts/texts-context';
import { theme } from './theme';

const root = document.querySelector('#root');
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
// For the style by which an open dialog keeps the page from scrolling.
Object.assign(globalThis, { __webpack_nonce__: nonce });
if (root === null) throw new Error('The document has no #root.');

// Where what locks the page behind a dialog looks for the nonce of its style.
Object.assign(globalThis, { __webpack_nonce__: nonce });

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <TextsProvider>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </TextsProvider>
    </MantineProvider>
  </StrictMode>,
);
