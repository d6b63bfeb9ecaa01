/** Tests `graveFaults` itself: it finds the faults of a document in every check. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { graveFaults, startBrowser } from '#libs/testing/browser';

const PATIENCE_MS = 120_000;
const PAGE = `<html lang="en"><title>A page</title><main><h1>A page</h1>
  <img src="data:,"><p style="color: #ccc">Pale</p><button></button></main></html>`;

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

it(
  'names what is wrong, as often as it is asked, and what has changed',
  async () => {
    const page = await browser.newPage();
    await page.setContent(PAGE);
    const names = async (only?: 'look') =>
      (await graveFaults(page, only)).map((fault) => fault.split(':')[0]).sort();
    expect(await names()).toEqual(['button-name', 'color-contrast', 'image-alt']);
    expect(await names()).toEqual(['button-name', 'color-contrast', 'image-alt']);
    expect(await names('look')).toEqual(['color-contrast']);
    await page.evaluate(`document.querySelector('p').style.color = '#000'`);
    expect(await names()).toEqual(['button-name', 'image-alt']);
    await page.setContent(PAGE);
    expect(await names()).toEqual(['button-name', 'color-contrast', 'image-alt']);
  },
  PATIENCE_MS,
);
