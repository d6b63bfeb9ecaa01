import { AxeBuilder } from '@axe-core/playwright';
import { type Page } from 'playwright-core';

const HAS_AXE = 'window.axe !== undefined';
/**
 * Waits for all CSS transitions: a colour in the middle of a transition is not the final one and could fail the
 * contrast check.
 */
const SETTLED = `Promise.all(document.getAnimations().filter((one) => one instanceof CSSTransition)
  .map((one) => one.finished.catch(() => undefined))).then(() => undefined)`;
/** The axe rules whose result depends on the colour scheme or the width. */
const RULES_OF_LOOK = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'];

/**
 * Returns the serious and critical violations that axe finds on the page in its current state, and whether the page is
 * wider than the screen.
 * @param only `look` if the same page was already checked in another colour scheme or at another width
 */
export async function graveFaults(page: Page, only?: 'look'): Promise<string[]> {
  await page.evaluate(SETTLED);
  // A document keeps axe once it is loaded. Without `axeSource` the builder would inject half a megabyte twice for each
  // check.
  const source = (await page.evaluate<boolean>(HAS_AXE)) && { axeSource: 'undefined' };
  // The pages have no frames, so axe does not need an extra page to join the results of several frames.
  const axe = new AxeBuilder({ page, ...source }).setLegacyMode();
  axe.options({ resultTypes: ['violations'] });
  if (only === 'look') axe.withRules(RULES_OF_LOOK);
  const { violations } = await axe.analyze();
  const found = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
  const excess = await excessWidth(page);
  return excess > 0 ? [...found, `${excess} px too wide`] : found;
}

/** By how many pixels the page is wider than the screen; not positive where it fits. */
export function excessWidth(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
}
