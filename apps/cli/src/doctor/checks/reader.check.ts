import { createDatabase, IndexStore, READER_ROLE } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { type Check } from '../check.js';
import { fault, ok } from '../finding.js';

const NAME = 'reader role';

/** Whether this user can become the role that the api reads as: tried, as the api does it. */
export const readerCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  async *look({ settings }) {
    try {
      const database = await createDatabase({
        url: settings.databaseUrl ?? '',
        applicationName: 'lowmark doctor',
        poolSize: 1,
        readOnly: true,
        schema: 'any',
      });
      try {
        await new IndexStore(database).state();
      } finally {
        await database.close();
      }
      yield ok(NAME, `${READER_ROLE} can be taken, and reads the index`);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      yield fault(
        NAME,
        error.message,
        `Run \`npm run migrate\`; where that is done, let an administrator run GRANT ${READER_ROLE} TO the user of DATABASE_URL.`,
      );
    }
  },
};
