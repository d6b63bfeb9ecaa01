import { AxeBuilder } from '@axe-core/playwright';
import { type Page } from 'playwright-core';

const HAS_AXE = 'window.axe !== undefined';
/** A colour in the middle of its transition is none that a reader sees. */
const SETTLED = `Promise.all(document.getAnimations().filter((one) => one instanceof CSSTransition)
  .map((one) => one.finished.catch(() => undefined))).then(() => undefined)`;
/** The rules whose result depends on the colour scheme. */
const RULES_OF_COLOUR = ['color-contrast', 'link-in-text-block'];
const EXCESS_WIDTH = 'document.documentElement.scrollWidth - innerWidth';

/**
 * What axe finds that is serious or critical on a page as it is, and whether something is wider than the screen.
 * @param only `colours` where the same page was checked in another colour scheme, at the same width
 */
export async function graveFaults(page: Page, only?: 'colours'): Promise<string[]> {
  await page.evaluate(SETTLED);
  // A document keeps axe, whose half a megabyte the builder would put into it anew for each look, twice.
  const source = (await page.evaluate<boolean>(HAS_AXE)) && { axeSource: 'undefined' };
  // The pages have no frames, so axe need not open a page of its own to join what it finds in each.
  const axe = new AxeBuilder({ page, ...source }).setLegacyMode();
  axe.options({ resultTypes: ['violations'] });
  if (only === 'colours') axe.withRules(RULES_OF_COLOUR);
  const { violations } = await axe.analyze();
  const found = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
  const excess = await page.evaluate<number>(EXCESS_WIDTH);
  return excess > 0 ? [...found, `${excess} px too wide`] : found;
}
