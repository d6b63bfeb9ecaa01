/**
 * Builds and runs the doctor's checks. A check is a table of rows about one subject; each row has a title, a question
 * and a remedy.
 */
import { type RpcPool } from '#libs/chain';
import { settingsOf } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { messageOf, redact, withTimeout } from '#libs/platform';
import { isNotMigrated, isWithoutRight } from '#libs/db';
import { DoctorSettings, type Variable } from './doctor.settings.js';
import { BusyError, throwIfBusy } from './rpc-answer.js';
import { type Subject } from './subject.js';

/** `warning`: the part works, but not as it should. `fault`: a service that needs the part does not work. */
export type FindingState = 'ok' | 'warning' | 'fault' | 'not-checked';

export interface Finding {
  /** The examined part, for example `rpc 127.0.0.1:8545#1: head`. */
  readonly what: string;
  readonly state: FindingState;
  readonly found: string;
  /** Remedy of a warning or a fault. */
  readonly mend?: string;
}

/** Answer of one question. Title and remedy default to those of the row. */
export interface Answer {
  readonly state: FindingState;
  readonly found: string;
  readonly remedy?: string | undefined;
  readonly title?: string;
}

export const ok = (found: string): Answer => ({ state: 'ok', found });
export const notChecked = (found: string): Answer => ({ state: 'not-checked', found });
export const warning = (found: string, remedy?: string): Answer => ({
  state: 'warning',
  found,
  remedy,
});
export const fault = (found: string, remedy?: string): Answer => ({
  state: 'fault',
  found,
  remedy,
});

type Answers = Answer | readonly Answer[] | undefined;

export interface Row<Facts> {
  readonly title: string;
  /** Undefined answers are not reported. */
  readonly ask: (facts: Facts) => Answers | Promise<Answers> | AsyncIterable<Answer>;
  /** Default remedy of a warning or a fault. */
  readonly remedy?: string;
  /** A fault in this row skips the rows below. */
  readonly stopsOnFault?: true;
}

/** A precondition of a check: a setting, or a reachable database with a schema. */
type Need = Variable | 'database' | 'schema';

/** The needs of checks that read the tables of the schema. */
export const SCHEMA: readonly Need[] = ['DATABASE_URL', 'database', 'schema'];

/** Rows about the same facts. They are one check, with a common timeout and failure. */
export interface Table<Facts> {
  readonly title: string;
  /** Only the first missing need is reported. */
  readonly needs: readonly Need[];
  readonly read: (subject: Subject) => Facts | Promise<Facts>;
  readonly rows: readonly Row<Facts>[];
}

export interface Check {
  readonly title: string;
  readonly needs: readonly Need[];
  /** Yields the findings. Findings before a failure or a timeout are kept. */
  find(subject: Subject): AsyncIterable<Finding>;
}

/** Ends a check with this answer under the check's title. */
export class CheckEnded extends Error {
  constructor(readonly answer: Answer) {
    super(answer.found);
  }
}

export function table<Facts>({ title, needs, read, rows }: Table<Facts>): Check {
  return {
    title,
    needs,
    async *find(subject) {
      const facts = await read(subject);
      for (const row of rows) {
        let isFaulty = false;
        for await (const answer of answersOf(row.ask(facts))) {
          yield findingOf(answer.title ?? row.title, answer, row.remedy);
          isFaulty ||= answer.state === 'fault';
        }
        if (isFaulty && row.stopsOnFault === true) return;
      }
    },
  };
}

export function check({
  needs,
  ...row
}: Row<Subject> & { readonly needs: readonly Need[] }): Check {
  return table({ title: row.title, needs, read: (subject) => subject, rows: [row] });
}

async function* answersOf(
  asked: Answers | Promise<Answers> | AsyncIterable<Answer>,
): AsyncGenerator<Answer> {
  if (asked !== undefined && Symbol.asyncIterator in asked) {
    yield* asked;
    return;
  }
  const answers = (await asked) ?? [];
  yield* 'state' in answers ? [answers] : answers;
}

function findingOf(what: string, { state, found, remedy }: Answer, ofRow?: string): Finding {
  const hasRemedy = state === 'warning' || state === 'fault';
  const mend = hasRemedy ? (remedy ?? ofRow) : undefined;
  return { what, state, found, ...(mend !== undefined && { mend }) };
}

export interface CheckOptions {
  /** Settings with an invalid value, with the expected form by variable. */
  readonly faulty: ReadonlyMap<string, string>;
  /** Time limit of each check, in milliseconds. */
  readonly timeoutMs: number;
  /** Called every two seconds with the titles of the checks in progress. */
  readonly onWaiting?: ((titles: readonly string[]) => void) | undefined;
}

const TELL_EVERY_MS = 2000;

/**
 * Runs all checks concurrently; the findings are in the order of the checks. A failed check becomes a finding instead
 * of an error.
 */
export async function makeChecks(
  checks: readonly Check[],
  subject: Subject,
  options: CheckOptions,
): Promise<Finding[]> {
  const waiting = new Set(checks.map(({ title }) => title));
  const telling = setInterval(() => {
    if (waiting.size > 0) options.onWaiting?.([...waiting]);
  }, TELL_EVERY_MS);
  try {
    const found = await Promise.all(
      checks.map(async (one) => {
        const findings = await makeCheck(one, subject, options);
        waiting.delete(one.title);
        return findings;
      }),
    );
    return found.flat();
  } finally {
    clearInterval(telling);
  }
}

async function makeCheck(
  check: Check,
  subject: Subject,
  { faulty, timeoutMs }: CheckOptions,
): Promise<Finding[]> {
  const { title, needs } = check;
  const findings: Finding[] = [];
  let isLate = false;
  const found = (finding: Finding): void => {
    // Findings after the timeout are dropped.
    if (!isLate) findings.push(finding);
  };
  const collect = async (): Promise<void> => {
    try {
      for (const need of needs) {
        const why = await missing(need, subject, faulty);
        if (why !== undefined) throw new CheckEnded(notChecked(why));
      }
      for await (const finding of check.find(subject)) found(finding);
    } catch (error) {
      found(findingOf(title, failureOf(error)));
    }
  };
  if ((await withTimeout(timeoutMs, collect(), () => 'late' as const)) === 'late') {
    const late = fault(
      `no end within ${Math.round(timeoutMs / 1000)} s`,
      'Look at the network and the load of the other side, then try again.',
    );
    found(findingOf(title, late));
    isLate = true;
  }
  return findings;
}

const NO_SCHEMA = 'no schema';

/** The reason why the check cannot be run; undefined where no need is missing. */
async function missing(
  need: Need,
  subject: Subject,
  faulty: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  // The check of the database itself explains why it cannot be opened.
  if (need === 'database') {
    return (await opens(subject)) ? undefined : 'the database cannot be opened';
  }
  if (need === 'schema') return (await subject.hasSchema()) ? undefined : NO_SCHEMA;
  if (isSet(need, subject.settings)) return undefined;
  return `${need} ${faulty.has(need) ? 'is not usable' : 'is not set'}`;
}

/** The pool of endpoints that serve the right chain. @throws CheckEnded where none of them answers */
export async function chainOf(subject: Subject): Promise<RpcPool> {
  const pool = await subject.chain();
  if (pool === undefined)
    throw new CheckEnded(notChecked('no endpoint of the right chain answers'));
  return pool;
}

function isSet(variable: Variable, settings: DoctorSettings): boolean {
  const setting = settingsOf(DoctorSettings).find((one) => one.variable === variable);
  return setting !== undefined && settings[setting.property as keyof DoctorSettings] !== undefined;
}

async function opens(subject: Subject): Promise<boolean> {
  return subject.database().then(
    () => true,
    () => false,
  );
}

function failureOf(thrown: unknown): Answer {
  const error = busyOr(thrown);
  if (error instanceof CheckEnded) return error.answer;
  if (error instanceof BusyError) return notChecked(redact(error.message));
  // A table of a pending migration is missing; the check of the schema reports it.
  if (isNotMigrated(error)) return notChecked(NO_SCHEMA);
  // The check of the database rights reports missing rights.
  if (isWithoutRight(error)) {
    return notChecked('not as this user of the database, who has no right to look');
  }
  if (error instanceof LowmarkError) {
    return fault(
      `${redact(error.message)} [${error.code}]`,
      error.retryable
        ? 'Mend what is named, or try again: this passes by itself where the other side was busy.'
        : 'Mend what is named.',
    );
  }
  const text = messageOf(error);
  return fault(redact(text), 'This is an error of the program: report it.');
}

function busyOr(error: unknown): unknown {
  try {
    throwIfBusy(error);
    return error;
  } catch (busy) {
    return busy;
  }
}
