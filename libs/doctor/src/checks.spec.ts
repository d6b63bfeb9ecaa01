import { expect, it } from '@jest/globals';
import { PermanentError, RetryableError } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { type Check, type Finding, makeChecks } from './checks.js';
import { readDoctorSettings } from './doctor.settings.js';
import { Subject } from './subject.js';

const { settings } = readDoctorSettings({});

function run(
  checks: readonly Check[],
  onWaiting: (titles: readonly string[]) => void = () => undefined,
) {
  const subject = new Subject(settings, systemClock);
  return makeChecks(checks, subject, { faulty: new Map(), timeoutMs: 2500, onWaiting });
}

function ok(what: string, found: string): Finding {
  return { what, state: 'ok', found };
}

function check(title: string, find: () => AsyncGenerator<Finding>): Check {
  return { title, needs: [], find };
}

it('keeps what was found before a check hung, and says which ones are under way', async () => {
  const waiting: (readonly string[])[] = [];
  const never = new Promise<never>(() => undefined);
  const hanging = check('hangs', async function* () {
    yield ok('hangs: first', 'well');
    await never;
  });
  const quick = check('quick', async function* () {
    yield await Promise.resolve(ok('quick', 'well'));
  });
  const found = await run([hanging, quick], (titles) => waiting.push(titles));
  expect(found).toEqual([
    ok('hangs: first', 'well'),
    { what: 'hangs', state: 'fault', found: 'no end within 3 s', mend: expect.any(String) },
    ok('quick', 'well'),
  ]);
  expect(waiting).toEqual([['hangs']]);
});

it('makes a fault of every error, and never shows what a URL holds', async () => {
  class Passing extends RetryableError {}
  class Lasting extends PermanentError {}
  const errors = [
    new Passing('A', 'late'),
    new Lasting('B', 'wrong: https://user:hunter2@host/'),
    new Error('strange: postgresql://user:hunter2@host/x'),
  ];
  const found = await run(
    errors.map((error, index) =>
      check(`check ${index}`, async function* () {
        yield await Promise.reject<Finding>(error);
      }),
    ),
  );
  expect(found.map(({ state }) => state)).toEqual(['fault', 'fault', 'fault']);
  expect(found.map(({ found: text }) => text)).toEqual([
    'late [A]',
    expect.stringMatching(/^wrong: .*\[B\]$/),
    expect.stringMatching(/^strange: /),
  ]);
  expect(JSON.stringify(found)).not.toContain('hunter2');
});

it('reports findings in the order of the checks, whichever comes first', async () => {
  let letFirstEnd: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (letFirstEnd = resolve));
  const first = check('first', async function* () {
    yield ok('first: a', 'well');
    await ended;
    yield ok('first: b', 'well');
  });
  const second = check('second', async function* () {
    yield await Promise.resolve(ok('second', 'well'));
    letFirstEnd();
  });
  const found = await makeChecks([first, second], new Subject(settings, systemClock), {
    faulty: new Map(),
    timeoutMs: 2500,
  });
  expect(found.map(({ what }) => what)).toEqual(['first: a', 'first: b', 'second']);
});
