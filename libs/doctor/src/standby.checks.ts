import { createDatabase, type Database, readWalPosition, type WalPosition } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { DatabaseUrl, sleep } from '#libs/platform';
import { type Answer, check, ok, warning } from './checks.js';
import { type Subject } from './subject.js';

const STATEMENT_TIMEOUT_MS = 8000;
const LOOK_EVERY_MS = 100;

/** Whether the api can read from each server of DATABASE_READ_URLS: a standby of DATABASE_URL that does not lag. */
export const standbyCheck = check({
  title: 'standby',
  needs: ['DATABASE_READ_URLS', 'DATABASE_URL', 'database'],
  async ask(subject) {
    const primary = await readWalPosition(await subject.database());
    const urls = subject.settings.databaseReadUrls ?? [];
    return Promise.all(
      urls.map(async (url) => {
        const answer = await standbyAnswer(url, primary, subject);
        return { ...answer, title: `standby ${DatabaseUrl.parse(url).hosts.join(',')}` };
      }),
    );
  },
});

async function standbyAnswer(
  url: string,
  primary: WalPosition,
  { settings, clock }: Subject,
): Promise<Answer> {
  let standby: Database | undefined;
  try {
    standby = await createDatabase({
      url,
      applicationName: 'lowmark doctor',
      poolSize: 1,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      schema: 'any',
    });
    const maxLagMs = settings.readMaxLagSeconds * 1000;
    const startMs = clock.nowMs();
    for (;;) {
      const { isStandby, bytes, system } = await readWalPosition(standby);
      if (system !== primary.system) {
        return warning(
          'belongs to another primary than that of DATABASE_URL',
          'Correct DATABASE_READ_URLS.',
        );
      }
      if (!isStandby) {
        return warning(
          'is no standby: it can be written',
          'Take the primary out of DATABASE_READ_URLS; make a server that was promoted a standby again.',
        );
      }
      const lagMs = clock.nowMs() - startMs;
      if (bytes >= primary.bytes) return ok(`has what the primary had ${lagMs} ms ago`);
      if (lagMs > maxLagMs) {
        return warning(
          `lags ${primary.bytes - bytes} bytes of the log, for more than READ_MAX_LAG_SECONDS (${settings.readMaxLagSeconds})`,
          'Look at pg_stat_replication on the primary; see docs/operating/alerts.md#standbyleftaside.',
        );
      }
      await sleep(LOOK_EVERY_MS);
    }
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    return warning(
      error.message,
      'Start the standby, or correct DATABASE_READ_URLS; until then the api reads elsewhere.',
    );
  } finally {
    await standby?.close();
  }
}
