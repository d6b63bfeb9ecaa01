import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newRequestId } from '../request-id.js';
import { ACCESS_FAULTS } from './fixtures/access.faults.support.js';
import { LACKING } from './fixtures/capabilities.support.js';
import { DUPLICATE_FAULTS } from './fixtures/duplicate.faults.support.js';
import { HTTP_FAULTS } from './fixtures/http.faults.support.js';
import { partnerWith } from './fixtures/fault.support.js';
import { idOf, isSuccess, signing } from './fixtures/form.support.js';
import { Refused } from './fixtures/honest-ledger.support.js';
import {
  API_KEY,
  type Call,
  HonestPartner,
  PLAYER,
  type Reply,
  SECRET,
} from './fixtures/honest-partner.support.js';
import { REVERT_FAULTS } from './fixtures/revert.faults.support.js';
import { SIGNATURE_FAULTS } from './fixtures/signature.faults.support.js';
import { failedIn, tryOut } from './fixtures/try-out.support.js';
import {
  type DeductionJournal,
  giveBack,
  type JournalEntry,
  type Report,
  runConformance,
} from './index.js';
import { textReport } from './report/text-report.js';

const skippedIn = ({ checks }: Report): string[] =>
  checks.flatMap(({ id, status }) => (status === 'skipped' ? [id] : []));

describe('an honest partner', () => {
  it('keeps every rule, has every capability, and loses the one point of the claim', async () => {
    const [partner, journal] = [new HonestPartner(), new Journal()];
    const report = await tryOut(partner, { journal });
    expect([...journal.open]).toEqual([]);
    expect(report.checks.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(Object.values(report.capabilities)).toEqual([true, true, true, true, true]);
    expect(report).toMatchObject({ outcome: 'conforms', exitStatus: 0, stopped: null });
    expect(report.left).toMatchObject({ before: 10, after: 9 });
    expect(report.left.unresolved).toMatchObject([{ state: 'claimed', points: 1 }]);
    expect(partner.ledger.pointsOf(PLAYER)).toBe(9);
  });

  it('loses nothing without the claim', async () => {
    const partner = new HonestPartner();
    const report = await tryOut(partner, { mayClaim: false });
    expect(skippedIn(report)).toEqual(['confirm-claimed', 'confirm-claimed-stands']);
    expect(report).toMatchObject({ outcome: 'conforms', exitStatus: 0 });
    expect(report.left).toEqual({ before: 10, after: 10, unresolved: [] });
    expect(partner.ledger.pointsOf(PLAYER)).toBe(10);
  });

  it('may leave out what is optional', async () => {
    const partner = new HonestPartner();
    const report = await tryOut(partner, { hasConfirm: false });
    expect(skippedIn(report).every((id) => id.startsWith('confirm-'))).toBe(true);
    expect(report).toMatchObject({ outcome: 'conforms', left: { before: 10, after: 10 } });
  });

  it('needs five points for everything, and is told so', async () => {
    expect(await tryOut(new HonestPartner(), {}, 5)).toMatchObject({ outcome: 'conforms' });
    const report = await tryOut(new HonestPartner(), {}, 1);
    expect(failedIn(report)).toEqual([]);
    expect(report).toMatchObject({ outcome: 'incomplete', exitStatus: 2 });
    const why = report.checks.find(({ id }) => id === 'refuses-mismatched-pair');
    expect(why?.skippedBecause).toBe(`It needs 2 points at ${PLAYER}, and there are 1.`);
    expect(report.capabilities['refuses-mismatched-pair']).toBeNull();
    const none = await tryOut(new HonestPartner(), {}, 0);
    expect(none).toMatchObject({ outcome: 'incomplete', exitStatus: 2, counts: { errors: 0 } });
  });
});

const FAULTS = [
  ...[ACCESS_FAULTS, HTTP_FAULTS, REVERT_FAULTS, SIGNATURE_FAULTS, DUPLICATE_FAULTS].flat(),
];

describe('a report', () => {
  const checkIn = ({ checks }: Report, check: string) => checks.find(({ id }) => id === check);
  const seenIn = (report: Report, check: string): string => checkIn(report, check)?.observed ?? '';
  const remedyIn = (report: Report, check: string): string => checkIn(report, check)?.remedy ?? '';

  it.each<[string, string, RegExp, RegExp?]>([
    [
      'stores another transaction id than it answers with',
      'revert-gives-back',
      /refused: ERR-TRANSACTION-NOT-FOUND.* this is the one that is stored/,
    ],
    [
      'refuses the unauthenticated with another code',
      'auth-key-missing',
      /refused with ERR-INTERNAL only, "No\."/,
    ],
    ['compresses its answers', 'http-content-type', /is compressed \(Content-Encoding\)/],
    ['signs its points as floats', 'signature-valid', /./, /are signed as 340\.0/],
    [
      'recognises a redemption by its wallet',
      'deduct-new-id',
      /never sent before/,
      /not by the wallet/,
    ],
  ])('of a partner that %s says so', async (name, check, observed, remedy = /./) => {
    const fault = FAULTS.find((one) => one.name === name);
    const report = await tryOut(partnerWith(fault ?? {}));
    expect(seenIn(report, check)).toMatch(observed);
    expect(remedyIn(report, check)).toMatch(remedy);
    expect(JSON.stringify(report)).not.toContain('went through');
  });

  it('says what refusals without a signature cost, and counts them as a warning', async () => {
    const lacking = LACKING.find(({ lacks }) => lacks === 'signs-all-responses');
    const report = await tryOut(partnerWith(lacking ?? {}));
    expect(failedIn(report)).toEqual(['signs-all-responses']);
    expect(report).toMatchObject({ outcome: 'conforms', counts: { errors: 0, warnings: 1 } });
    expect(seenIn(report, 'signs-all-responses')).toMatch(
      /^The answer has status 400 and no X-API-SIGNATURE\. Call: .*unsigned revert.*\./,
    );
    expect(checkIn(report, 'signs-all-responses')?.rule).toContain(
      'Redemptions that are refused without a signature wait for an operator.',
    );
    const said = textReport(report);
    expect(said).toContain('WARNING  signs-all-responses: Refusals of every status are signed');
    expect(said).toMatch(/no error was found\. Read the warnings: each has a cost\.$/m);
  });

  it.each([
    ['its answers alone', ['signature-valid']],
    ['calls too', ['call-accepted', 'signature-valid']],
  ])('names a secret that is decoded from hex, for %s', async (uses, fails) => {
    const sharedSecret = '5ec4e7'.repeat(10);
    const hmac = (content: string, key: string | Buffer): string =>
      createHmac('sha256', key).update(content).digest('hex');
    const decoded = Buffer.from(sharedSecret, 'hex');
    const partner = partnerWith({
      partner: () => ({
        hmac: (content) => hmac(content, uses === 'calls too' ? decoded : sharedSecret),
        sign: (call, { body }) => hmac(call.method + call.path + idOf(call) + body, decoded),
      }),
    });
    const report = await tryOut(partner, { sharedSecret });
    expect(failedIn(report)).toEqual(fails);
    expect(remedyIn(report, 'signature-valid')).toContain('The secret was decoded as hex');
  });

  it('asks for the path of the base URL where the first call finds no endpoint', async () => {
    class WithoutPath extends HonestPartner {
      override async start(): Promise<string> {
        return new URL('/', await super.start()).href;
      }
    }
    const report = await tryOut(new WithoutPath());
    expect(failedIn(report)).toEqual(['balance-read']);
    expect(seenIn(report, 'balance-read')).toContain('The path was "/get-points-by-address"');
    expect(remedyIn(report, 'balance-read')).toContain('path of the base URL');
  });
});

describe('what cannot be tried', () => {
  it('is a partner that is not there', async () => {
    const partner = new HonestPartner();
    const baseUrl = await partner.start();
    await partner.stop();
    const options = { baseUrl, apiKey: API_KEY, sharedSecret: SECRET, address: PLAYER };
    const report = await runConformance(options);
    expect(failedIn(report)).toEqual([]);
    expect(report).toMatchObject({ outcome: 'incomplete', exitStatus: 2 });
    expect(report.stopped).toMatch(/^The partner cannot be reached: ECONNREFUSED/);
    expect(report).toMatchObject({ counts: { passed: 0 }, calls: 1 });
  });

  it('is tried nevertheless over plain http, with a warning', async () => {
    const options = { apiKey: API_KEY, sharedSecret: SECRET, address: PLAYER };
    const report = await runConformance({ ...options, baseUrl: 'http://0.0.0.0:1' });
    expect(failedIn(report)).toEqual(['base-url-https']);
    expect(report).toMatchObject({ outcome: 'incomplete', counts: { errors: 0, warnings: 1 } });
  });

  it('is a player whom the partner does not know', async () => {
    const report = await tryOut(new HonestPartner(), { address: `0x${'12'.repeat(20)}` });
    expect(report).toMatchObject({ outcome: 'incomplete', exitStatus: 2, counts: { errors: 0 } });
    expect(report.stopped).toMatch(/is no player of the partner/);
  });

  it('is a balance that the partner cannot tell; its answer says why', async () => {
    const act = (): never => {
      throw new Refused('ERR-INTERNAL');
    };
    const report = await tryOut(partnerWith({ partner: () => ({ act }) }));
    expect(failedIn(report)).toEqual(['balance-read']);
    expect(report).toMatchObject({ outcome: 'violates', exitStatus: 1 });
    expect(report.stopped).toBe('The first balance read was refused with ERR-INTERNAL.');
    const { observed, exchanges } = report.checks.find(({ id }) => id === 'balance-read') ?? {};
    expect(observed).toContain('ERR-INTERNAL, "No."');
    expect(exchanges?.[0]?.came.body).toContain('ERR-INTERNAL');
  });

  it('does not put the secret in question where calls are verified with it', async () => {
    const partner = signing(({ method, path }, { body }) => `${method} ${path} ${body}`);
    const report = await tryOut(partnerWith({ partner }));
    const { observed } = report.checks.find(({ id }) => id === 'signature-valid') ?? {};
    expect(observed).toContain('The secret is the same on both sides');
  });

  it('is anything with another secret, which is the partner’s error or ours', async () => {
    const report = await tryOut(new HonestPartner(), { sharedSecret: 'another secret' });
    expect(failedIn(report)).toEqual(['call-accepted', 'signature-valid']);
    const { observed } = report.checks.find(({ id }) => id === 'call-accepted') ?? {};
    expect(observed).toContain('The signed content was "GET/game/v1/get-points-by-address');
  });

  it.each([
    [{ baseUrl: 'ftp://x' }, 'The base URL must begin with https://'],
    [{ baseUrl: 'https://u:p@x' }, 'The base URL must not have a user or a password'],
    [{ baseUrl: 'https://x/?a=1' }, 'The base URL must not have a query'],
    [{ baseUrl: 'x' }, 'The base URL is not a URL.'],
    [{ address: '0x12' }, 'The address must be 0x and 40 hex digits'],
    [{ emptyAddress: PLAYER.toLowerCase() }, 'The empty address must be another one'],
    [{ sharedSecret: '' }, 'The shared secret is empty.'],
    [{ apiKey: 'a b' }, 'The API key must be printable'],
  ])('are the options %j', async (options, message) => {
    const good = { baseUrl: 'https://x', apiKey: 'k', sharedSecret: 's', address: PLAYER };
    await expect(runConformance({ ...good, ...options })).rejects.toThrow(message);
  });
});

/**
 * A program on the way that answers reverts by itself, unsigned. The journal of deductions, from which the console gives
 * points back, must not take its word.
 */
type Invent = (partner: HonestPartner, call: Call) => Reply;

const INVENTED: Readonly<Record<string, Invent>> = {
  'a success': (partner, { json }) =>
    partner.reply(200, {
      success: true,
      partnerTransactionId: json['partnerTransactionId'] ?? 'ptx',
      partnerRevertId: randomUUID(),
    }),
  'ERR-ALREADY-REVERTED': (partner, call) =>
    partner.refusal(call, new Refused('ERR-ALREADY-REVERTED')),
  'ERR-TRANSACTION-NOT-FOUND': (partner, call) =>
    partner.refusal(call, new Refused('ERR-TRANSACTION-NOT-FOUND')),
};

const intercepted = (invent: Invent): HonestPartner =>
  partnerWith({
    partner: (honest) => ({
      answer: (call) =>
        isRevert(call) ? Promise.resolve(invent(honest, call)) : honest.answer(call),
      sign: (call, reply) => (isRevert(call) ? undefined : honest.sign(call, reply)),
    }),
  });

const isRevert = ({ endpoint }: Call): boolean => endpoint === 'revert-deduct-points';

class Journal implements DeductionJournal {
  readonly open = new Set<string>();
  sent({ svcRedemptionId }: { readonly svcRedemptionId: string }): Promise<void> {
    return Promise.resolve(void this.open.add(svcRedemptionId));
  }
  succeeded(): Promise<void> {
    return Promise.resolve();
  }
  settled(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.open.delete(id);
    return Promise.resolve();
  }
}

async function backFrom(
  partner: HonestPartner,
  entry: Partial<JournalEntry> = {},
): ReturnType<typeof giveBack> {
  const baseUrl = await partner.start();
  const target = { baseUrl, apiKey: API_KEY, sharedSecret: SECRET };
  const svcRedemptionId = newRequestId(Date.now());
  const terms = { svcRedemptionId, address: PLAYER, points: 1, transactionId: undefined };
  try {
    return await giveBack(target, [{ ...terms, ...entry }]);
  } finally {
    await partner.stop();
  }
}

describe.each(Object.entries(INVENTED))('%s that nobody signed', (name, invent) => {
  it('settles nothing of an earlier run', async () => {
    expect(await backFrom(intercepted(invent))).toMatchObject([
      { state: 'uncertain', why: 'The answer that would settle it is not signed.' },
    ]);
    if (name === 'ERR-TRANSACTION-NOT-FOUND') return;
    const known = await backFrom(intercepted(invent), { transactionId: 'ptx_1' });
    expect(known).toMatchObject([{ state: 'uncertain' }]);
  });

  it('leaves the deductions of a run in the journal', async () => {
    const journal = new Journal();
    const partner = intercepted(invent);
    const report = await tryOut(partner, { journal, mayClaim: false });
    expect(report).toMatchObject({ outcome: 'violates' });
    const standing = [...partner.ledger.deductions.keys()];
    expect(standing.length).toBeGreaterThan(0);
    expect([...journal.open]).toEqual(expect.arrayContaining(standing));
  });
});

describe('the journal of deductions', () => {
  it('is empty where unsigned refusals are true, as the signed balance shows', async () => {
    const journal = new Journal();
    const half = partnerWith({
      partner: (honest) => ({
        refusal: (call, refused) => ({ ...honest.refusal(call, refused), status: 400 }),
        sign: (call, reply) => (isSuccess(reply) ? honest.sign(call, reply) : undefined),
      }),
    });
    const report = await tryOut(half, { journal });
    expect(report).toMatchObject({ outcome: 'conforms', counts: { warnings: 1 } });
    expect([...journal.open]).toEqual([]);
  });

  it('is settled by a signed word of an earlier run', async () => {
    expect(await backFrom(new HonestPartner())).toEqual([]);
  });
});
