import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { POINTS_FAULTS } from '../fixtures/points.faults.support.js';
import { FIELD_FAULTS } from '../fixtures/field.faults.support.js';
import { type Fault } from '../fixtures/fault.support.js';
import {
  API_KEY,
  type Call,
  EMPTY_PLAYER,
  HonestPartner,
  type Json,
  PLAYER,
  SECRET,
} from '../fixtures/honest-partner.support.js';
import { type Report } from '../report/report.js';
import { runCli } from './run-cli.js';

const ENVIRONMENT = { LOWMARK_API_KEY: API_KEY, LOWMARK_SHARED_SECRET: SECRET };

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the program; `interrupts` receives the listeners that a SIGINT would call. */
async function run(
  args: readonly string[],
  environment: Record<string, string> = ENVIRONMENT,
  interrupts: (() => void)[] = [],
): Promise<Ran> {
  let [out, err] = ['', ''];
  const status = await runCli({
    args,
    environment,
    out: (text) => (out += text),
    err: (text) => (err += text),
    onInterrupt: (listener) => interrupts.push(listener),
  });
  for (const secret of [SECRET, API_KEY, JSON.stringify(SECRET).slice(1, -1)]) {
    expect(out + err).not.toContain(secret);
  }
  return { status, out, err };
}

const running: HonestPartner[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((partner) => partner.stop()));
});

async function started(partner: HonestPartner): Promise<string[]> {
  running.push(partner);
  return ['--base-url', await partner.start(), '--address', PLAYER];
}

const faulty = (faults: readonly Fault[], name: string): HonestPartner => {
  const fault = faults.find((one) => one.name === name);
  if (fault === undefined) throw new Error(`There is no fault "${name}".`);
  return new fault.Partner();
};

describe('the exit status', () => {
  it('is 0 where all is well, and the text says so', async () => {
    const { status, out, err } = await run([...(await started(new HonestPartner())), '--no-claim']);
    expect(status).toBe(0);
    expect(out).toContain('No error was found in all that the options left in.');
    expect(out).not.toContain('Everything was tried');
    expect(out).toContain('No player without points was given (--empty-address).');
    expect(out).toContain('--capability revert-by-redemption-id --capability tombstones');
    expect(out).toContain(`Points of ${PLAYER}: 10 before, 10 after`);
    // Where the machine is busy the run says how far it has come.
    expect(err).toMatch(/^(\d+ of \d+ checks, .*\n)*$/);
  });

  it('is 0 where all was tried, and the text says just that', async () => {
    const args = await started(new HonestPartner());
    const { status, out } = await run([...args, '--empty-address', EMPTY_PLAYER]);
    expect(status).toBe(0);
    expect(out).toContain('Everything was tried, and no error was found.');
    expect(out).toContain(', 0 not tried;');
    expect(out).toContain('The revert was refused with ERR-INTERNAL. So it must be.');
  });

  it('is 1 where a rule is broken, and the text is something to act on', async () => {
    const partner = faulty(POINTS_FAULTS, 'is not idempotent, and forgets the first deduction');
    const { status, out } = await run(await started(partner));
    expect(status).toBe(1);
    expect(out).toContain(
      'ERROR  deduct-repeat-once: A repeated redemption id takes no points again',
    );
    expect(out).toContain(
      'Seen:      After the same redemption id again the balance should be 9, and it is 8.',
    );
    expect(out).toContain('To mend:   Make svcRedemptionId unique in your table of deductions');
    expect(out).toMatch(/sent {5}POST \/game\/v1\/deduct-points-by-address\n +x-api-request: 0/);
    expect(out).toMatch(/came {5}200 in \d+ ms, signature valid/);
    expect(out).toMatch(/NOT GIVEN BACK: 1 point\(s\), svcRedemptionId 0[0-9a-f-]{35}, partner/);
    expect(partner.ledger.pointsOf(PLAYER)).toBe(9);
    expect(out).toContain(`Points of ${PLAYER}: 10 before, 9 after`);
  });

  it('is 2 where the options are wrong', async () => {
    const good = ['--base-url', 'http://127.0.0.1:1', '--address', PLAYER];
    const cases: [string[], string][] = [
      [[], '--base-url is missing. Try --help.'],
      [['--base-url', 'http://127.0.0.1:1'], '--address is missing. Try --help.'],
      [['--moon', SECRET], 'There is an option that is not known.'],
      [[...good, SECRET], 'There is an argument that belongs to no option.'],
      [[...good, '--api-key'], 'An option is given without its value'],
      [[...good, '--api-key', 'a', '--api-key-file', 'b'], 'Give --api-key or --api-key-file'],
      [[...good, '--api-key-file', '/nowhere'], 'cannot be read (ENOENT)'],
      [[...good, '--timeout-seconds', 'x'], '--timeout-seconds must be'],
    ];
    for (const [args, message] of cases) {
      const { status, out, err } = await run(args);
      expect({ status, out }).toEqual({ status: 2, out: '' });
      expect(err).toContain(message);
    }
    expect(await run(good, {})).toMatchObject({ status: 2 });
  });

  it('is 2 where there is nobody', async () => {
    const args = await started(new HonestPartner());
    await Promise.all(running.splice(0).map((partner) => partner.stop()));
    const { status, out } = await run(args);
    expect(status).toBe(2);
    expect(out).toContain('The partner cannot be reached: ECONNREFUSED');
  });

  it('is 0 for help', async () => {
    const { status, out } = await run(['--help']);
    expect(status).toBe(0);
    expect(out).toContain('Usage: lowmark-conformance');
  });
});

describe('--json', () => {
  it('has the documented shape', async () => {
    const partner = faulty(POINTS_FAULTS, 'answers a duplicate with its first success');
    const { status, out } = await run([...(await started(partner)), '--json']);
    const report = JSON.parse(out) as Report;
    expect(status).toBe(1);
    expect(Object.keys(report)).toEqual([
      ...['version', 'tool', 'baseUrl', 'address', 'outcome', 'exitStatus', 'stopped', 'counts'],
      ...['capabilities', 'checks', 'left', 'calls', 'durationMs'],
    ]);
    expect(report).toMatchObject({ version: 1, outcome: 'violates', exitStatus: 1, stopped: null });
    expect(report.counts).toMatchObject({ errors: 1, warnings: 0, infos: 0 });
    const check = report.checks.find(({ id }) => id === 'deduct-repeat-refused');
    expect(check).toEqual({
      id: 'deduct-repeat-refused',
      status: 'failed',
      severity: 'error',
      title: expect.any(String),
      section: 'POST /deduct-points-by-address, rule 1',
      rule: expect.any(String),
      remedy: expect.any(String),
      capability: null,
      observed: expect.stringContaining('Expected: ERR-DUPLICATE-REQUEST.'),
      skippedBecause: null,
      exchanges: [
        {
          step: 'deduct',
          purpose: 'the same redemption id again',
          sent: {
            method: 'POST',
            target: '/game/v1/deduct-points-by-address',
            headers: expect.objectContaining({ 'x-api-key': '(not shown)' }),
            body: expect.stringContaining('"deductPoints":1'),
          },
          came: {
            status: 200,
            headers: expect.objectContaining({ 'x-api-signature': expect.any(String) }),
            body: expect.stringContaining('"success":true'),
            fault: null,
            signature: 'valid',
            durationMs: expect.any(Number),
          },
        },
      ],
    });
  });
});

describe('secrets', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'conformance-'));
  });
  afterAll(async () => {
    await rm(directory, { recursive: true });
  });

  it('are read from files, without the line break at the end', async () => {
    const [key, secret] = [join(directory, 'key'), join(directory, 'secret')];
    await Promise.all([writeFile(key, `${API_KEY}\n`), writeFile(secret, `${SECRET}\r\n`)]);
    const args = [...(await started(new HonestPartner())), '--api-key-file', key];
    expect(await run([...args, '--shared-secret-file', secret], {})).toMatchObject({ status: 0 });
  });

  it('are better not given on the command line, which is said', async () => {
    const args = [...(await started(new HonestPartner())), '--api-key', API_KEY];
    const { status, err } = await run([...args, '--shared-secret', SECRET], {});
    expect(status).toBe(0);
    expect(err).toContain('--shared-secret can be seen in the list of processes');
  });

  it.each([[[]], [['--json']]])(
    'are not shown where the partner sends them back %j',
    async (more) => {
      const partner = faulty(FIELD_FAULTS, 'shows the secret and the key in its errors');
      const { status, out } = await run([...(await started(partner)), ...more]);
      expect(status).toBe(1);
      expect(out).toContain('(shared secret) (API key)');
    },
  );
});

describe('an interruption', () => {
  it('begins nothing new, and gives back what was deducted', async () => {
    const interrupts: (() => void)[] = [];
    let deductions = 0;
    class Interrupting extends HonestPartner {
      override act(call: Call): Json | Promise<Json> {
        // In the middle of ten calls at once, most of them not answered yet.
        if (call.endpoint.startsWith('deduct') && ++deductions === 16) interrupts[0]?.();
        return super.act(call);
      }
    }
    const partner = new Interrupting();
    const { status, out, err } = await run(
      [...(await started(partner)), '--no-claim'],
      ENVIRONMENT,
      interrupts,
    );
    expect(status).toBe(2);
    expect(err).toContain('Interrupted: giving back what was deducted');
    expect(out).toContain('The run was interrupted.');
    expect(out).toContain(`Points of ${PLAYER}: 10 before, 10 after`);
    expect(partner.ledger.pointsOf(PLAYER)).toBe(10);
  });

  it('leaves nothing behind, wherever it comes', async () => {
    for (const at of [5, 60, 80, 90, 100, 110, 120, 130, 140, 150]) {
      const interrupts: (() => void)[] = [];
      class Interrupting extends HonestPartner {
        override act(call: Call): Json | Promise<Json> {
          if (this.calls >= at) interrupts[0]?.();
          interrupts.length = this.calls >= at ? 0 : interrupts.length;
          return super.act(call);
        }
      }
      const partner = new Interrupting();
      const args = [...(await started(partner)), '--no-claim', '--json'];
      const { status, out } = await run(args, ENVIRONMENT, interrupts);
      expect(status).toBe(2);
      expect((JSON.parse(out) as Report).left.unresolved).toEqual([]);
      expect(partner.ledger.pointsOf(PLAYER)).toBe(10);
    }
  });

  it('given twice gives up, and says what is left', async () => {
    const interrupts: (() => void)[] = [];
    class Stuck extends HonestPartner {
      override act(call: Call): Json | Promise<Json> {
        const isLife = call.json['revertReason'] !== undefined && this.ledger.deductions.size > 0;
        if (!isLife) return super.act(call);
        for (const times of [1, 2]) if (times > 0) interrupts[0]?.();
        return new Promise<Json>(() => undefined);
      }
    }
    const partner = new Stuck();
    const args = [...(await started(partner)), '--timeout-seconds', '0.2'];
    const { status, out, err } = await run(args, ENVIRONMENT, interrupts);
    expect(status).toBe(1);
    expect(err).toContain('Giving up what is left to give back.');
    expect(out).toMatch(/NOT GIVEN BACK: 1 point\(s\), svcRedemptionId 0/);
    expect(partner.ledger.pointsOf(PLAYER)).toBe(9);
  });
});
