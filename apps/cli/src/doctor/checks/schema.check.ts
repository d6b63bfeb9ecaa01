import { readSchema } from '#libs/db';
import { type Check } from '../check.js';
import { fault, ok, warning } from '../finding.js';

const NAME = 'schema';

/** Whether the migrations of the database are those of this program. */
export const schemaCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  async *look(subject) {
    const { unknown, accepted, missing } = await readSchema(await subject.database());
    if (unknown.length > 0 && accepted.length === unknown.length) {
      yield warning(
        NAME,
        `a newer program migrated it: ${unknown.join(', ')}; this one was let start all the same`,
        'Go on to the newer version when what was wrong with it is mended. See docs/operating/upgrade.md.',
      );
    } else if (unknown.length > 0) {
      yield fault(
        NAME,
        `a newer program migrated it: ${unknown.join(', ')}`,
        'Start the version of the services that knows these migrations; for the way back see docs/operating/upgrade.md.',
      );
    }
    if (missing.length > 0) {
      yield fault(NAME, `not applied: ${missing.join(', ')}`, 'Run `npm run migrate`.');
    }
    if (unknown.length + missing.length === 0) yield ok(NAME, 'up to date');
  },
};
