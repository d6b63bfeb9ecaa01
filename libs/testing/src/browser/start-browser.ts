import { type Browser, chromium as driver } from 'playwright-core';
import { chromium } from '../jest/chromium.mjs';

/** A real Chromium without a window. The caller closes it. @throws Error where there is none */
export async function startBrowser(): Promise<Browser> {
  const executablePath = chromium();
  if (executablePath === undefined) throw new Error('There is no Chromium on the PATH.');
  return driver.launch({
    executablePath,
    // Its sandbox does not work for root, as containers run it; the pages are our own.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}
