import { CommandFailed } from '../cli.errors.js';
import { PartnerSettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { AS, JSON_LINE } from '../options.js';
import { progressOf } from '../output/progress.js';
import { printable } from '../output/text.js';
import {
  type KeyUse,
  type LeftSecret,
  neededOf,
  type Rewrapped,
  rewrapSecrets,
  secretsStatus,
  statusText,
} from '../secrets/stored-secrets.js';

/** Which keys are in use; fails where one that is needed is not there. */
const status = command({
  name: 'status',
  description: 'say which keys seal the stored secrets; never a secret',
  options: [JSON_LINE],
  settings: PartnerSettings,
  async action(call) {
    const keyRing = call.keyRing();
    const uses = await call.withDatabase((database) => secretsStatus(database, keyRing));
    call.print(uses, statusText(uses));
    if (uses.some((use) => use.standing === 'missing' && neededOf(use) > 0)) {
      throw new CommandFailed();
    }
  },
});

/** Puts every stored secret under the first key of SECRETS_KEY; fails where one that is needed cannot be opened. */
const rewrap = command({
  name: 'rewrap',
  description: 'seal every stored secret anew under the first key of SECRETS_KEY',
  options: [JSON_LINE, AS],
  settings: PartnerSettings,
  async action(call) {
    const keyRing = call.keyRing();
    const progress = progressOf(call.terminal, call.clock);
    const { done, uses } = await call.withDatabase(async (database) => ({
      done: await rewrapSecrets(database, keyRing, call.audited(), (count) => {
        progress(`${count} secrets looked at`);
      }),
      uses: await secretsStatus(database, keyRing),
    }));
    call.print({ ...done, keys: uses }, textOf(done, uses));
    if (done.left.some(({ isRevoked }) => !isRevoked)) throw new CommandFailed();
  },
});

export const secretsCommands: CommandGroup = {
  name: 'secrets',
  description: 'the stored secrets and the keys that seal them',
  commands: [status, rewrap],
};

function textOf({ changed, unchanged, left }: Rewrapped, uses: readonly KeyUse[]): string {
  const summary = `Sealed anew: ${changed}. Sealed so already: ${unchanged}. Left as they are: ${left.length}.\n`;
  return `${summary}${left.map(leftText).join('')}\n${statusText(uses)}`;
}

function leftText({ place, partnerName, isRevoked, why }: LeftSecret): string {
  return `  ${isRevoked ? 'revoked ' : ''}${place} of ${printable(partnerName)}: ${why}\n`;
}
