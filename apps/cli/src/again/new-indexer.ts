/** The indexer program as a child of the command, which writes the new index while the other programs go on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type SettingsSource } from '#libs/config';
import { PermanentError } from '#libs/domain';
import { redact } from '#libs/platform';

const PROGRAM = fileURLToPath(new URL('../../../indexer/src/main.js', import.meta.url));
const LINES_KEPT = 20;
const STOP_MS = 30_000;

/** Settings of the other indexer that would disturb it, or that only the index in use needs. */
const CHANGED: SettingsSource = {
  INDEX_PART: 'next',
  LISTEN_HOST: '127.0.0.1',
  INDEXER_PORT: '0',
  PRICE_SOURCE: 'none',
  PRICE_SOURCE_FILE: undefined,
  DATABASE_URL_FILE: undefined,
  DATABASE_DIRECT_URL: undefined,
  DATABASE_DIRECT_URL_FILE: undefined,
};

export class NewIndexer {
  private readonly lines: string[] = [];
  private readonly ended: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.ended = Promise.race([once(child, 'exit'), once(child, 'error')]).catch(() => undefined);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        if (this.lines.length > LINES_KEPT) this.lines.shift();
      });
    }
  }

  /** @param databaseUrl of the indexer's database user */
  static start(source: SettingsSource, databaseUrl: string): NewIndexer {
    // The child ends when its standard input closes, so it never outlives the command.
    const child = spawn(process.execPath, ['--max-semi-space-size=32', PROGRAM], {
      env: { ...source, ...CHANGED, DATABASE_URL: databaseUrl },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return new NewIndexer(child);
  }

  /** @throws PermanentError with what the program logged last, where it has ended by itself */
  requireRunning(): void {
    if (this.isRunning) return;
    const said = this.lines.map(messageOf).filter((text) => text !== '');
    throw new PermanentError(
      'NEW_INDEXER_ENDED',
      `The indexer of the new index has ended: ${redact(said.at(-1) ?? 'it wrote nothing')}`,
    );
  }

  /** Stops the program as SIGTERM does, and kills it after half a minute. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
    await this.ended;
    clearTimeout(timer);
  }

  private get isRunning(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && !this.child.signalCode;
  }
}

/** The message of a line of the log; other lines as they are. */
function messageOf(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line) as {
      level?: string;
      msg?: string;
      err?: { message?: string };
    };
    return level === 'fatal' || level === 'error' ? (err?.message ?? msg ?? '') : '';
  } catch {
    return line;
  }
}
