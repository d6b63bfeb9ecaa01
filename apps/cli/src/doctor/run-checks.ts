import { LowmarkError } from '#libs/domain';
import { redact, within } from '#libs/platform';
import { type Check } from './check.js';
import { fault, type Finding, notChecked } from './finding.js';
import { type Variable } from './doctor.settings.js';
import { isNotMigrated, isWithoutRight } from '../cli.errors.js';
import { BusyError, throwIfBusy } from './rpc-question.js';
import { type Subject } from './subject.js';

export interface RunOptions {
  /** Variables that are there and not usable. */
  readonly faulty: ReadonlyMap<string, string>;
  /** How long one check may take. */
  readonly timeoutMs: number;
  /** Told every two seconds which checks are still under way. */
  readonly onWaiting: (names: readonly string[]) => void;
}

const TELL_EVERY_MS = 2000;
const NO_SCHEMA = 'no schema';
const NO_RIGHT = 'not as this user of the database, who has no right to look';

/** Makes all checks at once; the findings come in the order of the checks. It never throws what a check can tell. */
export async function runChecks(
  checks: readonly Check[],
  subject: Subject,
  options: RunOptions,
): Promise<Finding[]> {
  const waiting = new Set(checks.map(({ name }) => name));
  const telling = setInterval(() => {
    if (waiting.size > 0) options.onWaiting([...waiting]);
  }, TELL_EVERY_MS);
  try {
    const found = await Promise.all(
      checks.map(async (check) => {
        const findings = await inTime(check, subject, options);
        waiting.delete(check.name);
        return findings;
      }),
    );
    return found.flat();
  } finally {
    clearInterval(telling);
  }
}

async function inTime(check: Check, subject: Subject, options: RunOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  const collected = collect(check, subject, options, findings);
  const ended = await within(options.timeoutMs, collected, () => 'late' as const);
  // What still comes in is left out.
  if (ended !== 'late') return findings;
  const found = `no end within ${Math.round(options.timeoutMs / 1000)} s`;
  return [
    ...findings,
    fault(check.name, found, 'Look at the network and the load of the other side, then try again.'),
  ];
}

async function collect(
  check: Check,
  subject: Subject,
  { faulty }: RunOptions,
  findings: Finding[],
): Promise<void> {
  const { name } = check;
  const absent = check.needs.find((variable) => !isSet(variable, subject));
  if (absent !== undefined) {
    const why = faulty.has(absent) ? 'is not usable' : 'is not set';
    findings.push(notChecked(name, `${absent} ${why}`));
    return;
  }
  try {
    if (check.needsDatabase === true && !(await opens(subject))) {
      findings.push(notChecked(name, 'the database cannot be opened'));
      return;
    }
    if (check.needsSchema === true && !(await subject.hasSchema())) {
      findings.push(notChecked(name, NO_SCHEMA));
      return;
    }
    if (check.needsChain === true && (await subject.chain()) === undefined) {
      findings.push(notChecked(name, 'no endpoint of the right chain answers'));
      return;
    }
    for await (const finding of check.look(subject)) findings.push(finding);
  } catch (error) {
    findings.push(failed(name, error));
  }
}

function failed(name: string, error: unknown): Finding {
  const busy = busyReason(error);
  if (busy !== undefined) return notChecked(name, busy);
  // A table of a migration that is missing: said by the check of the schema.
  if (isNotMigrated(error)) return notChecked(name, NO_SCHEMA);
  // Whether it has the rights of its program is said by the check of the rights.
  if (isWithoutRight(error)) return notChecked(name, NO_RIGHT);
  if (error instanceof LowmarkError) {
    const mend = error.retryable
      ? 'Mend what is named, or try again: this passes by itself where the other side was busy.'
      : 'Mend what is named.';
    return fault(name, `${redact(error.message)} [${error.code}]`, mend);
  }
  const text = error instanceof Error ? error.message : String(error);
  return fault(name, redact(text), 'This is an error of the program: report it.');
}

function busyReason(error: unknown): string | undefined {
  try {
    throwIfBusy(error);
  } catch (busy) {
    error = busy;
  }
  return error instanceof BusyError ? redact(error.message) : undefined;
}

async function opens(subject: Subject): Promise<boolean> {
  try {
    await subject.database();
    return true;
  } catch {
    // Said by the check of the database itself.
    return false;
  }
}

function isSet(variable: Variable, { settings }: Subject): boolean {
  const values: Record<Variable, unknown> = {
    DATABASE_URL: settings.databaseUrl,
    SECRETS_KEY: settings.secretsKey,
    REDIS_URL: settings.redisUrl,
    CHAIN_ID: settings.chainId,
    RPC_URLS: settings.rpcUrls,
    TOKEN_CONTRACT: settings.tokenContract,
    VAULT_CONTRACT: settings.vaultContract,
    PRICE_SOURCE: settings.priceSource,
    VOUCHER_SIGNER_KEY: settings.voucherSignerKey,
  };
  return values[variable] !== undefined;
}
