/**
 * The newest transition that this service has seen in the ledger, in a file outside of the database. A ledger that went
 * back in time lacks it. Replicas may share the file: any transition that one of them has seen is in the ledger.
 */
import { randomUUID } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { type SeenTransition } from '#libs/db';
import { parseUuidV7, type UuidV7 } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type HourlyAlerts } from '../observe/hourly-alerts.js';

export class HighWaterMark {
  private newest: SeenTransition | undefined;
  /** The write under way, and the one that begins after it for all that came meanwhile. */
  private writing: Promise<void> = Promise.resolve();
  private queued: Promise<void> | undefined;
  private readonly temporary: string;

  /** @param path undefined: the mark is kept only while the process runs */
  constructor(
    private readonly path: string | undefined,
    private readonly alerts: HourlyAlerts,
    private readonly logger: Logger,
  ) {
    this.temporary = `${path ?? ''}.${randomUUID()}`;
  }

  get seen(): SeenTransition | undefined {
    return this.newest;
  }

  /** Reads the file. Without a file the mark begins with the next transition. */
  async read(): Promise<void> {
    const { path, logger } = this;
    if (path === undefined) {
      logger.info('LEDGER_MARK_PATH is not set: a restart forgets the newest transition');
      return;
    }
    try {
      this.newest = parseMark(await readFile(path, 'utf8'));
      if (this.newest === undefined) {
        logger.warn({ path }, 'The file of the newest transition cannot be read; it is made again');
      }
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ENOENT') {
        logger.info({ path }, 'There is no file of the newest transition yet: a first start');
      } else {
        logger.warn({ err: error, path }, 'The file of the newest transition cannot be read');
      }
    }
  }

  /**
   * Keeps the transition, which is committed, and resolves when it is on the disk. Never rejects: where the file cannot
   * be written, the mark is kept in memory.
   */
  keep(seen: SeenTransition): Promise<void> {
    // Not the one with the latest time: a clock that was set back would keep an old one for as long.
    this.newest = seen;
    if (this.path === undefined) return Promise.resolve();
    this.queued ??= this.writing.then(() => {
      this.queued = undefined;
      this.writing = this.write(this.path ?? '');
      return this.writing;
    });
    return this.queued;
  }

  private async write(path: string): Promise<void> {
    try {
      const file = await open(this.temporary, 'w', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(this.newest)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(this.temporary, path);
    } catch (error) {
      const detail = `${path} cannot be written (${(error as Error).message}): after a restart, a ledger that went back is not noticed by it`;
      this.alerts.raise({ severity: 'warning', code: 'ledger-mark-not-written', detail });
    }
  }
}

/** @returns undefined where the text is not that of a mark */
function parseMark(text: string): SeenTransition | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { version, event, atMs, ...ids } = Object(value) as Record<string, unknown>;
  const redemptionId = idOf(ids['redemptionId']);
  const requestId = ids['requestId'] === null ? null : idOf(ids['requestId']);
  if (redemptionId === undefined || requestId === undefined || typeof event !== 'string') {
    return undefined;
  }
  if (!isNatural(version, 2 ** 31 - 1) || !isNatural(atMs, 8.64e15)) return undefined;
  return { redemptionId, version, event, requestId, atMs };
}

function idOf(value: unknown): UuidV7 | undefined {
  return typeof value === 'string' ? parseUuidV7(value) : undefined;
}

function isNatural(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}
