import { type Browser, chromium } from 'playwright-core';

/** So long it is waited for what a page is to show: on a busy machine that takes its time, and no result depends on it. */
export const PAGE_PATIENCE_MS = 45_000;

/** A real Chromium without a window, the one that the tests found (CHROMIUM). The caller closes it. @throws Error where there is none */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'];
  if (executablePath === undefined) throw new Error('There is no Chromium on the PATH.');
  return chromium.launch({
    executablePath,
    args: [
      // Without a GPU a process that imitates one costs a tenth more CPU.
      '--disable-gpu',
      // Chromium's sandbox does not work for root, as containers run it; the pages are our own.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}
