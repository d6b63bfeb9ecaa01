/**
 * Follows the partners' pages with a running stack as of `npm start`: runs each shell block in order, up to the claimed
 * tokens.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ShellBlock, shellBlocks } from '../operating/machine/shell-blocks.js';
import { PARTNER_CAPABILITIES } from '#libs/domain';
import { freePort } from '#libs/devprocess';
import { UNTIL_FINAL } from '../stack/stack-commands.js';
import { RunningStack, START_MS, STACK_PORTS } from '../stack/running-stack.js';
import { codeBlocks, pages, read } from './markdown.js';
import { LANGUAGE_BLOCKS, VERIFY_BLOCKS, WALKED_BLOCKS } from './partner-blocks.js';
import { PartnerTerminal } from './partner-terminal.js';

const QUICK_START = 'docs/partners/quick-start.md';

/** Expected output of each block, by the block's first words. */
const SHOWS: readonly (readonly [begins: string, shows: RegExp])[] = [
  ['npm ci && npm start', /^$/],
  ['mkdir my-game', /^$/],
  ['export STAKING_URL', /^$/],
  ['npm init -y', /"name": "my-game"/],
  ['node tier.ts', /^[\d.]+ staked on average: (gold|silver|bronze)\n$/],
  ['cp ../lowmark/docs/partners/examples/partner.ts', /^$/],
  ['node partner.ts', /^$/],
  ['LOWMARK_API_KEY=', /^Everything was tried, and no error was found\.$/m],
  ['cd ../lowmark', /^GOOD$/m],
  ['url=', /^$/],
  ['ask() {', /"tokens":333\.3/],
  ['rpc eth_sendTransaction', /"result":"0x/],
  ['rpc anvil_mine', /"points":\d+/],
  ['curl -i', /HTTP\/1\.1 404[^]*^x-api-signature: [0-9a-f]{64}\r$/im],
  ['printf %s "$STAKING_SECRET"', /^\d+\n0{7} .*\n0{6}1\n$/],
  ['curl -s -H "X-API-KEY', /^[0-9a-f]{64} {2}-\n\d+\n$/],
  [
    'npm run --silent cli -- sign',
    /^verdict +the one given is another\nmistake +The path is signed without its first part/m,
  ],
  ['npm run --silent cli -- partner ping', /^GOOD$/m],
];

/** Variables of a reader of these pages, besides those of the quick start. */
const READERS_OWN = `
URL="$STAKING_URL/api/staking/snapshots?walletAddress=$WALLET&lastDays=7"
X_API_REQUEST=01a1fdfa-467b-7abc-8def-0123456789ab
`;
/** Waits for the voucher; the page waits two seconds. */
const UNTIL_AUTHORISED = `
until [ "$(echo "$redemption" | field stage)" = authorised ]; do
  sleep 0.3
  redemption=$(ask "$url/api/redemptions/$id")
done
`;
/** A wrong signature over the file that the previous block wrote. */
const MISTAKE = `
MY_SIGNATURE=$({ printf 'POST/deduct-points-by-address%s' "$X_API_REQUEST"; cat body; } |
  openssl dgst -sha256 -hmac "$CALLBACK_SECRET" -r | cut -c1-64)
`;

describe('the pages for partners', () => {
  let terminal: PartnerTerminal;
  let stack: RunningStack;
  let port: string;
  /** The output of tier.ts. */
  let tier: string;
  /** Replacements for the pages' placeholders of values that `npm start` prints, and for the example's port. */
  let printed: readonly (readonly [string, string])[];
  beforeAll(async () => {
    terminal = PartnerTerminal.open();
    const ports: Record<string, string> = {};
    for (const name of STACK_PORTS) ports[name] = String(await freePort());
    port = String(await freePort());
    stack = RunningStack.start(terminal.clone, { ...ports, VOUCHER_TTL_SECONDS: '300' });
    await stack.shows(undefined, START_MS);
    const line = (name: string): string =>
      new RegExp(`^ +${name} +(\\S+)`, 'm').exec(stack.output)?.[1] ?? '';
    const [, url = ''] = /^ +(url=\S+ rpc=\S+ chain=\S+)/m.exec(stack.output) ?? [];
    printed = [
      ['http://127.0.0.1:3000', line('Staking API')],
      ['svck_…', line('API key')],
      ['svcs_…', line('Shared secret')],
      ['WALLET=0x…', `WALLET=${line('Example wallet')}`],
      ['url=… rpc=… chain=…', url],
      ['127.0.0.1:4100', `127.0.0.1:${port}`],
    ];
  }, 2 * START_MS);
  afterAll(async () => {
    await stack.stop();
    terminal.close();
  });

  it('have no shell block that no test types', () => {
    const typed = [...WALKED_BLOCKS, ...LANGUAGE_BLOCKS, ...VERIFY_BLOCKS];
    expect(byPlace(typed)).toEqual(byPlace(pages().flatMap(shellBlocks)));
    for (const { code } of WALKED_BLOCKS) {
      expect(SHOWS.filter(([begins]) => code.startsWith(begins))).toHaveLength(1);
    }
  });

  it('start with the program of the stack', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts['start']).toBe(`node ${RunningStack.PROGRAM}`);
  });

  it.each(WALKED_BLOCKS)(
    '$page, line $line',
    async (block) => {
      await prepare(block);
      const { status, output } = await terminal.type(asTyped(block));
      if (block.code.startsWith('node tier.ts')) tier = output;
      if (block.code.startsWith('LOWMARK_API_KEY='))
        for (const name of PARTNER_CAPABILITIES) expect(output).toContain(`yes  ${name}`);
      const shows = SHOWS.find(([begins]) => block.code.startsWith(begins))?.[1];
      expect(output).toMatch(shows ?? '');
      // The page shows a wrong signature, and the command reports that by its exit status.
      const isWrong = block.code.includes('cli -- sign ');
      expect(status).toBe(isWrong ? 1 : 0);
      if (block.code.startsWith('npm ci')) await terminal.type('cd ..');
      if (block.code.startsWith('node partner.ts'))
        await terminal.answers(`http://127.0.0.1:${port}`);
      if (block.code.startsWith('ask() {')) await terminal.type(UNTIL_AUTHORISED);
      if (block.code.startsWith('rpc anvil_mine')) await isClaimed();
    },
    300_000,
  );

  it('read the same tier in Python', async () => {
    const block = LANGUAGE_BLOCKS.find(({ code }) => code.includes('snapshot.py'));
    await terminal.type('cd ../my-game');
    const python = await terminal.type(block?.code ?? '');
    expect(python).toEqual({ status: 0, output: tier });
    await terminal.type('cd ../lowmark');
    // The program must not accept an answer that is signed with another secret.
    const wrong = await terminal.type('cd ../my-game; STAKING_SECRET=another python3 snapshot.py');
    expect(wrong.output).toContain('Status 200, and not signed with our secret.');
    expect(wrong.status).toBe(1);
    await terminal.type('cd ../lowmark');
  });

  /** Does what the text of the page asks for before a block. */
  async function prepare({ page, code }: ShellBlock): Promise<void> {
    if (code.startsWith('npm ci')) await terminal.type('cd lowmark');
    if (/^node \w+\.ts/.test(code)) saveCode();
    if (page === QUICK_START) return;
    await terminal.type(READERS_OWN);
    if (code.includes('cli -- sign ')) await terminal.type(MISTAKE);
  }

  /** Saves the blocks for which the page says "Save this as …". */
  function saveCode(): void {
    for (const { title, code } of codeBlocks(read(QUICK_START))) {
      if (/^[\w-]+\.ts$/.test(title)) writeFileSync(terminal.path(`my-game/${title}`), code);
    }
  }

  function asTyped({ code }: ShellBlock): string {
    let text = code.startsWith('node partner.ts') ? `export PORT=${port}\n${code}` : code;
    for (const [words, by] of printed) text = text.replaceAll(words, by);
    expect(text).not.toContain('…');
    return text;
  }

  async function isClaimed(): Promise<void> {
    await terminal.type(UNTIL_FINAL);
    const end = await terminal.type(
      'ask "$url/api/redemptions/$id" | field status; ask "$url/api/partners/$partner/points" | field points',
    );
    // The conformance tester has spent one point.
    expect(end.output).toBe('claimed\n44999\n');
  }
});

function byPlace(blocks: readonly ShellBlock[]): string[] {
  return blocks.map(({ page, line }) => `${page}:${line}`).sort();
}
