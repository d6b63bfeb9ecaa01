/** The shell blocks of docs/partners, by the test that runs them. */
import { type ShellBlock, shellBlocks } from '../operating/machine/shell-blocks.js';

const QUICK_START: readonly ShellBlock[] = shellBlocks('docs/partners/quick-start.md');
/** Whether it starts an example in another language than TypeScript, or the tester without the SDK. */
const isOfLanguage = ({ code }: ShellBlock): boolean =>
  /^cp \.\.\/lowmark\/docs\/partners\/examples\/(?!partner\.ts)| --prefix \.\.\/lowmark conformance /m.test(
    code,
  );

/** Run by pages.soak-spec.ts, all of them, in the order in which a partner needs them. */
export const WALKED_BLOCKS: readonly ShellBlock[] = [
  ...QUICK_START.filter((block) => !isOfLanguage(block)),
  ...shellBlocks('docs/partners/api-reference.md'),
  ...shellBlocks('docs/partners/signatures.md'),
];

/**
 * Run by callbacks-in-languages.soak-spec.ts where the language is installed; the block that reads a snapshot is run
 * by pages.soak-spec.ts.
 */
export const LANGUAGE_BLOCKS: readonly ShellBlock[] = QUICK_START.filter(isOfLanguage);

/** Run by test/verify/verify.soak-spec.ts. */
export const VERIFY_BLOCKS: readonly ShellBlock[] = shellBlocks('docs/partners/verify.md');
