/**
 * Runs the callbacks of docs/partners/quick-start.md with the commands of the page, in each language whose tools
 * are installed. Compares their answers with the API reference.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintUuidV7, PARTNER_CAPABILITIES, type PartnerId, type UuidV7 } from '#libs/domain';
import {
  type AnswerResult,
  type PartnerCall,
  PartnerClient,
  PartnerEndpoint,
} from '#libs/partner-client';
import { systemClock } from '#libs/platform';
import { freePort } from '#libs/devprocess';
import { type Language, languagesHere, sayMissing } from './languages.js';
import { codeBlocks, read } from './markdown.js';
import { LANGUAGE_BLOCKS } from './partner-blocks.js';
import { PartnerTerminal } from './partner-terminal.js';
import { API_KEY, SECRET, send } from '../../libs/partner-sdk/src/testing/caller.support.js';
import {
  callsToNoEndpoint,
  faultsIn,
  refusedCalls,
} from '../../libs/partner-sdk/src/testing/refused-calls.support.js';

const PAGE = 'docs/partners/quick-start.md';
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';
const NOBODY = `0x${'0'.repeat(39)}1`;
const CALLBACK = { CALLBACK_KEY: API_KEY, CALLBACK_SECRET: SECRET };

interface Callbacks extends Language {
  /** Whether the file stores its data in `game.db`, and not in memory. */
  readonly hasDatabase?: true;
}

const LANGUAGES: readonly Callbacks[] = [
  {
    name: 'Python',
    file: 'callbacks.py',
    tools: [['python3', '--version']],
    required: true,
    hasDatabase: true,
  },
  {
    name: 'PHP',
    file: 'callbacks.php',
    tools: [['php', '-r', 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);']],
    required: true,
    hasDatabase: true,
  },
  { name: 'Go', file: 'callbacks.go', tools: [['go', 'version']], required: true },
  {
    name: 'Java',
    file: 'Callbacks.java',
    tools: [
      ['java', '--version'],
      ['javac', '--version'],
    ],
  },
];
const { installed, missing } = languagesHere(LANGUAGES);
const startOf = ({ file }: Language): string[] =>
  LANGUAGE_BLOCKS.map(({ code }) => code).filter((code) => code.includes(`/${file} `));
const PROOF = LANGUAGE_BLOCKS.filter(({ code }) => code.includes('conformance'));
/** pages.soak-spec.ts runs this block, since it needs a running service. */
const SNAPSHOT = LANGUAGE_BLOCKS.filter(({ code }) => code.includes('snapshot.py'));

describe('the callbacks in other languages', () => {
  it('are run in the languages whose tools are here; the rest is named', () => {
    expect(sayMissing(missing)).toEqual([]);
  });

  it('are all on the page, which has no other commands of a language', () => {
    const page = read(PAGE);
    for (const language of LANGUAGES) {
      expect(page).toContain(`(examples/${language.file})`);
      expect(startOf(language)).toHaveLength(1);
    }
    expect(PROOF).toHaveLength(1);
    expect(SNAPSHOT).toHaveLength(1);
    expect(LANGUAGE_BLOCKS).toHaveLength(LANGUAGES.length + PROOF.length + SNAPSHOT.length);
  });
});

describe.each(installed)('the callbacks in $name', (language) => {
  let terminal: PartnerTerminal;
  let port: string;
  let endpoint: PartnerEndpoint;
  const client = new PartnerClient({ clock: systemClock, policy: { allowPrivate: true } });
  beforeAll(async () => {
    terminal = PartnerTerminal.open();
    port = String(await freePort());
    endpoint = new PartnerEndpoint({
      partnerId: '5f0c1f0e-0000-4000-8000-000000000001' as PartnerId,
      baseUrl: `http://127.0.0.1:${port}/game`,
      apiKey: CALLBACK.CALLBACK_KEY,
      sharedSecret: CALLBACK.CALLBACK_SECRET,
    });
    const given = Object.entries({ ...CALLBACK, WALLET, PORT: port });
    const exports = given.map(([name, value]) => `export ${name}=${value}`).join('\n');
    await terminal.type(`mkdir my-game && cd my-game\n${exports}`);
    const [block = ''] = startOf(language);
    expect(await type(block)).toMatchObject({ status: 0 });
    await terminal.answers(`http://127.0.0.1:${port}`);
  }, 300_000);
  afterAll(() => {
    terminal.close();
  });

  const type = (code: string): ReturnType<PartnerTerminal['type']> =>
    terminal.type(code.replaceAll('127.0.0.1:4100', `127.0.0.1:${port}`));
  const redemptionId = (): UuidV7 => mintUuidV7(Date.now(), randomBytes(10));

  /** Calls the partner's endpoint. @returns the body of the answer, whose signature must verify */
  async function say(call: unknown): Promise<Record<string, unknown>> {
    const result = await client.call(endpoint, call as PartnerCall);
    expect(result).toMatchObject({ kind: 'answer', status: 200, verdict: 'verified' });
    return (result as AnswerResult).reply.json?.value as Record<string, unknown>;
  }
  const points = async (address = WALLET): Promise<unknown> =>
    (await say({ step: 'balance', address }))['points'];

  it('pass the conformance tester, with every capability', async () => {
    const [proof] = PROOF;
    const { status, output } = await type(proof?.code ?? '');
    expect(output).toMatch(/^Everything was tried, and no error was found\.$/m);
    expect(output).toMatch(/ 0 error\(s\), 0 warning\(s\), 0 info\(s\), 0 not tried;/);
    for (const name of PARTNER_CAPABILITIES) expect(output).toMatch(`yes  ${name}`);
    expect(status).toBe(0);
    expect(output).not.toContain(CALLBACK.CALLBACK_SECRET);
  }, 300_000);

  it('answer the calls of the API reference as it says', async () => {
    const [deduct, deducted, revert, reverted, claim, reversal, confirmed] = referenceExamples();
    const before = Number(await points());
    const first = await say({ step: 'deduct', body: deduct });
    expect(shapeOf(first)).toEqual(shapeOf(deducted));
    const { partnerTransactionId } = first;
    const back = { ...revert, partnerTransactionId };
    expect(shapeOf(await say({ step: 'revert', body: back }))).toEqual(shapeOf(reverted));
    expect(await say({ step: 'confirm', body: reversal })).toEqual(confirmed);
    expect(await points()).toBe(before);
    const { address, deductPoints, svcRedemptionId } = claim ?? {};
    await say({ step: 'deduct', body: { address, deductPoints, svcRedemptionId } });
    expect(await say({ step: 'confirm', body: claim })).toEqual(confirmed);
    expect(await points()).toBe(before - Number(deductPoints));
  });

  it('look in the order of the API reference', async () => {
    const terms = { address: WALLET, deductPoints: 2, svcRedemptionId: redemptionId() };
    const other = { ...terms, svcRedemptionId: redemptionId() };
    const code = async (step: string, body: object): Promise<unknown> =>
      (await say({ step, body }))['errorCode'];
    const { partnerTransactionId } = await say({ step: 'deduct', body: terms });
    await say({ step: 'deduct', body: other });
    const revert = { ...terms, revertReason: 'User cancelled' };
    const mixed = {
      ...revert,
      ...{ svcRedemptionId: other.svcRedemptionId, partnerTransactionId },
    };
    expect([
      await code('deduct', { ...terms, deductPoints: 900_000 }),
      await code('deduct', { ...terms, address: NOBODY }),
      await code('deduct', { ...other, svcRedemptionId: redemptionId(), address: NOBODY }),
      await code('revert', { ...mixed, deductPoints: 3 }),
      await code('revert', { ...revert, deductPoints: 3, address: NOBODY }),
      await code('revert', { ...revert, address: NOBODY }),
    ]).toEqual([
      'ERR-DUPLICATE-REQUEST',
      'ERR-DUPLICATE-REQUEST',
      'ERR-USER-NOT-FOUND',
      'ERR-TRANSACTION-NOT-FOUND',
      'ERR-INVALID-AMOUNT',
      'ERR-INTERNAL',
    ]);
    await say({ step: 'revert', body: revert });
    const mismatched = { ...revert, partnerTransactionId: 'of-another', deductPoints: 3 };
    expect(await code('revert', mismatched)).toBe('ERR-TRANSACTION-NOT-FOUND');
    expect(await code('revert', { ...revert, deductPoints: 3 })).toBe('ERR-ALREADY-REVERTED');
    expect(await code('deduct', { ...terms, deductPoints: 900_000 })).toBe('ERR-DUPLICATE-REQUEST');
  });

  it('sign every answer, also to calls that are forged, malformed or to no endpoint', async () => {
    const before = await points();
    const place = { prefix: '/game', wallet: WALLET, nowMs: Date.now() };
    const calls = [...refusedCalls(place), ...callsToNoEndpoint(place)];
    expect(await faultsIn(calls, (made) => send(Number(port), made))).toEqual([]);
    expect(await points()).toBe(before);
  });

  if (language.hasDatabase === true) {
    it('sign also the answer to a call that fails inside', async () => {
      // A folder of its name keeps the database away.
      await terminal.type('mv game.db away.db && mkdir game.db');
      const failed = await say({ step: 'balance', address: WALLET });
      expect(failed).toMatchObject({ success: false, errorCode: 'ERR-INTERNAL' });
      await terminal.type('rmdir game.db && mv away.db game.db');
      expect(await points()).toEqual(expect.any(Number));
    });
  }
});

type Body = Record<string, unknown>;

/** The JSON bodies of the three POST calls in the order of the page, without the duplicate and the balance. */
function referenceExamples(): Body[] {
  const page = read('docs/partners/api-reference.md');
  const sections = [
    '### POST /deduct-points-by-address',
    '### POST /revert-deduct-points',
    '### POST /confirm-redemption',
  ].map((heading) => {
    const from = page.indexOf(heading);
    return page.slice(from, page.indexOf('\n### ', from + 1));
  });
  const bodies = sections
    .map((section) => section.split('\n#### ')[0] ?? '')
    .flatMap(codeBlocks)
    .filter(({ language }) => language === 'json')
    .map(({ code }) => JSON.parse(code) as Body);
  expect(bodies).toHaveLength(7);
  return bodies;
}

/** The fields with their types. */
function shapeOf(body: Body | undefined): Body {
  return Object.fromEntries(
    Object.entries(body ?? {}).map(([name, value]) => [name, typeof value]),
  );
}
