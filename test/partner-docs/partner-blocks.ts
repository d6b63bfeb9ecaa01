/** The shell blocks of docs/partners, by the test that types them. */
import { type ShellBlock, shellBlocks } from '../operating/machine/shell-blocks.js';

/** In the order in which a partner comes to them; typed by pages.soak-spec.ts, all and in this order. */
export const WALKED_BLOCKS: readonly ShellBlock[] = [
  'quick-start',
  'webhooks',
  'api-reference',
  'why-does-my-signature-fail',
].flatMap((name) => shellBlocks(`docs/partners/${name}.md`));

/** Typed by callbacks-in-languages.system-spec.ts, where the language is installed; what reads a snapshot, by pages.soak-spec.ts. */
export const LANGUAGE_BLOCKS: readonly ShellBlock[] = shellBlocks(
  'docs/partners/other-languages.md',
);

/** Typed by test/verify/verify-page.system-spec.ts. */
export const VERIFY_BLOCKS: readonly ShellBlock[] = shellBlocks('docs/partners/verify.md');
