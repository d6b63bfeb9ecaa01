import { textReport } from '../report/text-report.js';
import { scrubber } from '../report/reported-exchange.js';
import { OptionsError, type Progress } from '../run/options.js';
import { runConformance } from '../run/run-conformance.js';
import { type CliArguments, type Environment, readArguments, USAGE } from './arguments.js';

/** The parts of the process that the program uses. */
export interface Terminal {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Registers a listener for each SIGINT and SIGTERM. */
  readonly onInterrupt: (listener: () => void) => void;
}

const PROGRESS_MS = 2000;

/** @returns the exit status */
export async function runCli(terminal: Terminal): Promise<0 | 1 | 2> {
  try {
    const given = readArguments(terminal.args, terminal.environment);
    if (given === undefined) {
      terminal.out(`${USAGE}\n`);
      return 0;
    }
    return await tryPartner(terminal, given);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    terminal.err(`${error.message}\n`);
    return 2;
  }
}

async function tryPartner(
  { err, out, onInterrupt }: Terminal,
  { options, isJson, notes }: CliArguments,
): Promise<0 | 1 | 2> {
  for (const note of notes) err(`Note: ${note}\n`);
  const [stop, abandon] = [new AbortController(), new AbortController()];
  onInterrupt(() => {
    if (stop.signal.aborted) {
      err('Giving up what is left to give back.\n');
      abandon.abort();
    } else {
      err('Interrupted: giving back what was deducted (again to give up).\n');
      stop.abort();
    }
  });
  let progress: Progress | undefined;
  const timer = setInterval(() => {
    if (progress === undefined) return;
    const { judged, checks, calls, now } = progress;
    err(`${judged} of ${checks} checks, ${calls} calls; now: ${now}\n`);
  }, PROGRESS_MS);
  try {
    const report = await runConformance({
      ...options,
      signal: stop.signal,
      abandon: abandon.signal,
      onProgress: (now) => (progress = now),
    });
    const text = isJson ? JSON.stringify(report, null, 2) : textReport(report);
    out(`${text}\n`);
    return report.exitStatus;
  } catch (error) {
    if (error instanceof OptionsError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    err(`The tester itself failed: ${scrubber(options)(message)}\n`);
    return 2;
  } finally {
    clearInterval(timer);
  }
}
