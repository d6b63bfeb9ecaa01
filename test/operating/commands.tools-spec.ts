/**
 * Every command of the handbook, read from the page and run, page after page on one system. What cannot run on a machine without containers is in
 * CHECKED_ONLY, with the reason; blocks that another test runs are in RUN_ELSEWHERE.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CALLBACK_SECRET } from '../../apps/cli/src/testing/cli-bench.support-spec.js';
import { CHECKED_ONLY, Machine } from './machine/machine.js';
import { OperatedSystem } from './machine/operated-system.js';
import { isSettings, PAGES, type ShellBlock, shellBlocks } from './machine/shell-blocks.js';

/** In the order in which an operator would come to them; the others behind. */
const FIRST = [
  'first-day',
  'README',
  'compose',
  'doctor',
  'first-sync',
  'prices',
  'redemption',
  'keys',
  'reindexing',
  'backup',
  'upgrade',
];

/** Where the commands of other pages are run: by page, and the beginning of the block where not all of the page is. */
const RUN_ELSEWHERE: readonly (readonly [page: string, begins: string, where: string])[] = [
  ['README.md', 'npm ci && npm start', 'test/stack/stack.e2e-spec.ts'],
  ['README.md', 'npm ci && npm test', 'is this'],
  ['README.md', 'curl -s -D headers', 'test/stack/stack.e2e-spec.ts'],
  ['README.md', 'ask() {', 'test/stack/stack.e2e-spec.ts'],
  ['README.md', 'rpc ', 'test/stack/stack.e2e-spec.ts'],
  ['docs/partners/quick-start.md', '', 'test/partner-docs/quick-start.e2e-spec.ts'],
  [
    'docs/partners/why-does-my-signature-fail.md',
    'npm run --silent cli -- sign',
    'test/partner-docs/debugger.e2e-spec.ts',
  ],
  ['docs/partners/', '', 'test/stack/stack.e2e-spec.ts'],
];

/** Words of the pages that stand for something of the reader's. */
const REPLACED: readonly (readonly [words: RegExp, by: (system: OperatedSystem) => string])[] = [
  [
    /--callback-url https:\/\/game\.example\/svc/g,
    ({ partner }) => `--allow-private --callback-url ${partner.url}`,
  ],
  // The newest one there is.
  [
    /backups\/lowmark-2026\d+T\d+Z\.dump/g,
    () => '"$(ls backups/lowmark-*.dump | tail -n 1)"',
  ],
  [/--block 123456/g, () => '--block 5'],
  [/partner ping "My Game"/g, () => 'partner ping "My Game" --allow-private'],
  [/postgresql:\/\/owner:…@db\/lowmark/g, ({ postgres }) => `'${postgres.url}'`],
  [
    /--let-older-start NAME NAME/g,
    () => '--let-older-start SessionMac1760000000021 SealedLedger1760000000023',
  ],
  [/--let-older-start NAME/g, () => '--let-older-start SessionMac1760000000021'],
];

const blocks = PAGES.flatMap(shellBlocks);
const elsewhere = ({ page, code }: ShellBlock): string | undefined =>
  RUN_ELSEWHERE.find(([of, begins]) => page.startsWith(of) && code.startsWith(begins))?.[2];
const place = ({ page }: ShellBlock): number => {
  const at = FIRST.findIndex((name) => page === `docs/operating/${name}.md`);
  return at === -1 ? FIRST.length : at;
};
const here = blocks
  .filter((block) => elsewhere(block) === undefined && !isSettings(block))
  .sort((one, other) => place(one) - place(other));

it('runs most blocks, and names where the others are run', () => {
  expect(here.length).toBeGreaterThan(40);
  for (const [page, begins] of RUN_ELSEWHERE) {
    expect(blocks.some((one) => one.page.startsWith(page) && one.code.startsWith(begins))).toBe(
      true,
    );
  }
});

describe('the commands of', () => {
  let system: OperatedSystem;
  let machine: Machine;
  beforeAll(async () => {
    system = await OperatedSystem.start();
    machine = await Machine.start(system.containers);
    writeFileSync(join(machine.clone, 'secret.txt'), CALLBACK_SECRET);
    const { failed, output } = await machine.type('docker compose run --rm secrets');
    expect({ failed, output }).toMatchObject({ failed: [] });
    const urls = ['api', 'indexer', 'redemption', 'cli'].map((name) => `${name}_database_url`);
    for (const name of urls)
      copyFileSync(join(system.containers.root, 'secrets', name), join(machine.clone, name));
  });
  afterAll(async () => {
    await machine.stop();
    await system.stop();
  });

  it.each(here)('$page, line $line', async (block) => {
    const code = await prepared(block);
    const { password } = new URL(system.postgres.url);
    const { failed, output } = await machine.type(code, `${password}\n${password}\n`);
    const isHeld = code.includes('price accept');
    if (isHeld) await system.release();
    // While a price is held the doctor fails, as the page says.
    const mayFail = isHeld ? ['npm run --silent cli -- doctor'] : [];
    const wrong = failed.filter((command) => !mayFail.includes(command));
    expect({ wrong, output: wrong.length === 0 ? '' : output }).toEqual({ wrong: [], output: '' });
    const readable = code.match(/echo readable/g) ?? [];
    expect(output.match(/^readable$/gm) ?? []).toHaveLength(readable.length);
  });

  it('needs each entry of what is only checked', () => {
    expect([...machine.checked].sort()).toEqual(Object.keys(CHECKED_ONLY).sort());
  });

  /** With what the reader puts in, and after what led the reader to the page. */
  async function prepared({ page, code }: ShellBlock): Promise<string> {
    let text = page.endsWith('first-day.md')
      ? code
      : code.replace('--name "My Game"', `--name "${page}"`);
    for (const [words, by] of REPLACED) text = text.replace(words, by(system));
    if (text.includes('price accept 0.052')) await system.hold('0.052');
    if (text.includes('audit --last')) await system.audit();
    if (text.includes('reconciliation')) return text.replace(/\bID\b/, await system.claim());
    return /\bID\b/.test(text) ? text.replace(/\bID\b/g, await system.redemption()) : text;
  }
});
