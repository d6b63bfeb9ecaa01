import { type Browser, chromium } from 'playwright-core';

/** Longest wait for an element of a page, in milliseconds. It is long for busy machines; no result depends on it. */
export const PAGE_PATIENCE_MS = 45_000;

/**
 * Starts a headless Chromium: the executable that the environment variable CHROMIUM names. The caller closes it.
 * @throws Error where CHROMIUM is not set
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'];
  if (executablePath === undefined) throw new Error('There is no Chromium on the PATH.');
  return chromium.launch({
    executablePath,
    args: [
      // Without this flag and without a GPU, Chromium starts a software GPU process that costs a tenth more CPU.
      '--disable-gpu',
      // Chromium's sandbox does not work for root, which is the user in containers. The tests open only pages of this
      // project.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}
