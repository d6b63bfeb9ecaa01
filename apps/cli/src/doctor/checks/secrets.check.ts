import { KeyRing } from '#libs/signing';
import { type Check } from '../check.js';
import { fault, ok, warning } from '../finding.js';
import { neededOf, secretsStatus } from '../../secrets/secrets-status.js';

const NAME = 'stored secrets';

/** Whether SECRETS_KEY has the keys that the stored secrets are sealed under. */
export const secretsCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL', 'SECRETS_KEY'],
  needsDatabase: true,
  needsSchema: true,
  async *look(subject) {
    const keyRing = KeyRing.parse(subject.settings.secretsKey ?? '');
    const uses = await secretsStatus(await subject.database(), keyRing);
    let isSettled = true;
    for (const use of uses) {
      const count = neededOf(use);
      if (count === 0 || use.standing === 'first') continue;
      isSettled = false;
      yield use.standing === 'missing'
        ? fault(
            NAME,
            `${count} need key ${use.keyId}, which is not in SECRETS_KEY`,
            'Add that key behind the first one, separated by a comma. See docs/operating/keys.md.',
          )
        : warning(
            NAME,
            `${count} are sealed under the older key ${use.keyId}`,
            'Run `secrets rewrap`, then take the older key away.',
          );
    }
    if (isSettled) {
      const count = uses.reduce((sum, use) => sum + neededOf(use), 0);
      yield ok(NAME, `${count}, all under the first key of SECRETS_KEY`);
    }
  },
};
