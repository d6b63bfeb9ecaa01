import { OLDEST_VERSION, readServerFacts, type ServerFacts } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { type Check } from '../check.js';
import { fault, type Finding, ok, warning } from '../finding.js';

const NAME = 'database';
const NOTABLE_SECONDS = 2;
const WRONG_SECONDS = 30;

/** Whether PostgreSQL answers, is new enough, may be written, and has the right time; and whether an indexer is at work. */
export const databaseCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  async *look(subject) {
    const where = placeOf(subject.settings.databaseUrl ?? '');
    let facts: ServerFacts;
    let [beforeMs, afterMs] = [0, 0];
    try {
      const database = await subject.database();
      beforeMs = subject.clock.nowMs();
      facts = await readServerFacts(database);
      afterMs = subject.clock.nowMs();
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      yield fault(
        NAME,
        `${where}: ${error.message}`,
        'Start PostgreSQL, or correct DATABASE_URL: host, port, name, user and password.',
      );
      return;
    }
    yield serverFinding(where, facts);
    yield clockFinding(facts.nowMs - (beforeMs + afterMs) / 2);
    yield leaderFinding(facts);
  },
};

function serverFinding(where: string, { version, isStandby }: ServerFacts): Finding {
  const name = `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000} at ${where}`;
  if (version < OLDEST_VERSION) {
    return fault(NAME, `${name} is too old`, 'Upgrade it to PostgreSQL 15 or newer.');
  }
  return isStandby
    ? warning(
        NAME,
        `${name} is a standby, which only reads`,
        'Right for an api that is to read there. Everything else: let DATABASE_URL name the primary server.',
      )
    : ok(NAME, name);
}

function clockFinding(aheadMs: number): Finding {
  const what = `${NAME}: clock`;
  const seconds = Math.abs(aheadMs) / 1000;
  const found = `${seconds.toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine`;
  const mend = 'Let both machines follow a time server (NTP).';
  if (seconds >= WRONG_SECONDS) return fault(what, found, mend);
  return seconds >= NOTABLE_SECONDS
    ? warning(what, found, mend)
    : ok(what, 'the same time as this machine');
}

function leaderFinding({ isLed }: ServerFacts): Finding {
  const what = 'indexer';
  return isLed
    ? ok(what, 'one holds the lead')
    : warning(what, 'none holds the lead: nothing is indexed now', 'Start the indexer.');
}

/** Host, port and name; neither user nor password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host === '' ? 'a local socket' : host}${decodeURIComponent(pathname)}`;
}
