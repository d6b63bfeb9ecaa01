import { excessRights, missingRights, type Program, PROGRAM_ROLES, PROGRAMS } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { type Check } from '../check.js';
import { fault, ok } from '../finding.js';

const NAME = 'database rights';

const MEMBER = {
  text: `SELECT rolname AS role FROM pg_roles
    WHERE rolname = ANY ($1) AND pg_has_role(session_user, oid, 'USAGE')
      AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)`,
};

/** Whether the user of DATABASE_URL may do what its program needs, and nothing more; see rights.ts. */
export const rightsCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  needsSchema: true,
  async *look(subject) {
    try {
      const database = await subject.database();
      const roles = await database.query<{ role: string }>(MEMBER, [Object.values(PROGRAM_ROLES)]);
      const programs = PROGRAMS.filter((program) =>
        roles.some(({ role }) => role === PROGRAM_ROLES[program]),
      );
      const program: Program = programs[0] ?? 'cli';
      const excess = await excessRights(database, program);
      if (excess.length > 0) {
        yield fault(
          NAME,
          excess.join('; '),
          'Give each program a user of its own: docs/operating/roles.md. `npm run migrate` makes them.',
        );
      } else if (programs.length === 0) {
        yield fault(
          NAME,
          'The user of DATABASE_URL has the rights of no program',
          'Run `npm run migrate` with the URLs of the programs: docs/operating/roles.md.',
        );
      } else {
        const missing = await missingRights(database, program);
        if (missing.length > 0) {
          yield fault(
            NAME,
            `the ${program} lacks ${missing.join('; ')}`,
            'Run `npm run migrate`: it gives each program its rights.',
          );
          return;
        }
        yield ok(NAME, `those of the ${program} (${PROGRAM_ROLES[program]}) and no more`);
      }
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      yield fault(NAME, error.message, 'Run `npm run migrate`.');
    }
  },
};
