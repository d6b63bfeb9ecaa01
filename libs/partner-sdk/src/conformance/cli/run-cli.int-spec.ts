import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { POINTS_FAULTS } from '../fixtures/points.faults.support.js';
import { FIELD_FAULTS } from '../fixtures/field.faults.support.js';
import { type Fault, partnerWith } from '../fixtures/fault.support.js';
import {
  API_KEY,
  type Call,
  EMPTY_PLAYER,
  HonestPartner,
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
  return partnerWith(fault);
};

/** A partner that does something before it acts on a call. */
const acting = (before: (call: Call, honest: HonestPartner) => unknown): HonestPartner =>
  partnerWith({
    partner: (honest) => ({
      act: async (call) => {
        await before(call, honest);
        return honest.act(call);
      },
    }),
  });

describe('the exit status', () => {
  it('is 0 where all is well, and the text says so', async () => {
    const secrets = ['--api-key', API_KEY, '--shared-secret', SECRET];
    const args = await started(new HonestPartner());
    const { status, out, err } = await run([...args, ...secrets, '--no-claim'], {});
    expect(status).toBe(0);
    expect(out).toContain('No error was found in all that the options left in.');
    expect(out).not.toContain('Everything was tried');
    expect(out).toContain('No player without points was given (--empty-address).');
    expect(out).toContain('--capability revert-by-redemption-id --capability tombstones');
    expect(out).toContain(`Points of ${PLAYER}: 10 before, 10 after`);
    // Secrets are better not given on the command line.
    expect(err).toContain('--shared-secret can be seen in the list of processes');
  });

  it('is 0 where all was tried, with secrets from files, and the text says just that', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'conformance-'));
    const [key, secret] = [join(directory, 'key'), join(directory, 'secret')];
    // The line breaks at the end are no part of them.
    await Promise.all([writeFile(key, `${API_KEY}\n`), writeFile(secret, `${SECRET}\r\n`)]);
    const files = ['--api-key-file', key, '--shared-secret-file', secret];
    const args = [...(await started(new HonestPartner())), ...files];
    const { status, out } = await run([...args, '--empty-address', EMPTY_PLAYER], {});
    await rm(directory, { recursive: true });
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

it('secrets are not shown where the partner sends them back', async () => {
  const partner = faulty(FIELD_FAULTS, 'shows the secret and the key in its errors');
  const { status, out } = await run(await started(partner));
  expect(status).toBe(1);
  expect(out).toContain('(shared secret) (API key)');
});

describe('an interruption', () => {
  it('leaves nothing behind, wherever it comes', async () => {
    for (const at of [5, 80, 110, 140]) {
      const interrupts: (() => void)[] = [];
      const partner = acting((_, { calls }) => {
        if (calls >= at) interrupts.pop()?.();
      });
      const args = [...(await started(partner)), '--no-claim', '--json'];
      const { status, out } = await run(args, ENVIRONMENT, interrupts);
      expect(status).toBe(2);
      expect((JSON.parse(out) as Report).left.unresolved).toEqual([]);
      expect(partner.ledger.pointsOf(PLAYER)).toBe(10);
    }
  });

  it('given twice gives up, and says what is left', async () => {
    const interrupts: (() => void)[] = [];
    const partner = acting(({ json }, { ledger }) => {
      if (json['revertReason'] === undefined || ledger.deductions.size === 0) return undefined;
      interrupts[0]?.();
      interrupts[0]?.();
      return new Promise<never>(() => undefined);
    });
    const args = [...(await started(partner)), '--timeout-seconds', '1'];
    const { status, out, err } = await run(args, ENVIRONMENT, interrupts);
    expect(status).toBe(1);
    expect(err).toContain('Giving up what is left to give back.');
    expect(out).toMatch(/NOT GIVEN BACK: 1 point\(s\), svcRedemptionId 0/);
    expect(partner.ledger.pointsOf(PLAYER)).toBe(9);
  });
});

/** The progress lines of a run that takes long, as on a busy machine. */
const PROGRESS = /^\d+ of \d+ checks, \d+ calls; now: .+\n/gm;

describe('lowmark-conformance, as it is started from dist/', () => {
  const MAIN = resolve('dist/libs/partner-sdk/src/conformance/main.js');
  let child: ChildProcess | undefined;
  afterEach(() => {
    child?.kill('SIGKILL');
  });

  async function start(partner: HonestPartner, ...more: string[]): Promise<Ran> {
    const args = [MAIN, ...(await started(partner)), ...more];
    const env = { PATH: process.env['PATH'], ...ENVIRONMENT };
    const program = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = program;
    let [out, err] = ['', ''];
    program.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    program.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const [status] = (await once(program, 'close')) as [number];
    for (const secret of [SECRET, API_KEY]) expect(out + err).not.toContain(secret);
    return { status, out, err };
  }

  it('prints the whole report, however long, and ends by itself', async () => {
    const { status, out, err } = await start(new HonestPartner(), '--json');
    expect({ status, err: err.replace(PROGRESS, '') }).toEqual({ status: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({ outcome: 'conforms' });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('undoes its deductions on %s', async (signal) => {
    let isKilled = false;
    const partner = acting((_, { ledger }) => {
      if (ledger.deductions.size === 0 || isKilled) return;
      isKilled = true;
      child?.kill(signal);
    });
    const { status, out, err } = await start(partner);
    expect(status).toBe(2);
    expect(err).toContain('Interrupted: giving back what was deducted');
    expect(out).toContain('The run was interrupted.');
    expect(out).toContain(`Points of ${PLAYER}: 10 before, 10 after`);
    expect(partner.ledger.pointsOf(PLAYER)).toBe(10);
    expect(partner.ledger.deductions.size).toBeGreaterThan(0);
  });

  it('says how far it is where it takes long', async () => {
    const slow = acting(() => new Promise((resolved) => setTimeout(resolved, 50)));
    const { status, err } = await start(slow, '--no-claim');
    expect(status).toBe(0);
    expect(err).toMatch(PROGRESS);
  });
});
