/** The shell blocks of docs/partners, by the test that runs them. */
import { type ShellBlock, shellBlocks } from '../operating/machine/shell-blocks.js';

/** Run by pages.soak-spec.ts, all of them, in the order in which a partner needs them. */
export const WALKED_BLOCKS: readonly ShellBlock[] = [
  'quick-start',
  'api-reference',
  'why-does-my-signature-fail',
].flatMap((name) => shellBlocks(`docs/partners/${name}.md`));

/**
 * Run by callbacks-in-languages.system-spec.ts where the language is installed; the block that reads a snapshot is run
 * by pages.soak-spec.ts.
 */
export const LANGUAGE_BLOCKS: readonly ShellBlock[] = shellBlocks(
  'docs/partners/other-languages.md',
);

/** Run by test/verify/verify-page.system-spec.ts. */
export const VERIFY_BLOCKS: readonly ShellBlock[] = shellBlocks('docs/partners/verify.md');
