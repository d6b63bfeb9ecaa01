import {
  type KeyStanding,
  type KeyUse,
  type FailedSecret,
  inUseCount,
  printable,
  type Rewrapped,
  RewrapSecrets,
  secretsStatus,
} from '#libs/operations';
import { PartnerSettings } from '../cli.env.js';
import { command, CommandFailed, type CommandGroup } from '../command.js';
import { commandOf } from '../operation-command.js';
import { JSON_LINE } from '../options.js';
import { table } from '../output/text.js';

const status = command({
  name: 'status',
  description: 'say which keys seal the stored secrets; never a secret',
  options: [JSON_LINE],
  settings: PartnerSettings,
  async action(call) {
    const keyRing = call.keyRing();
    const uses = await call.withDatabase(secretsStatus, keyRing);
    call.print(uses, statusText(uses));
    if (uses.some((use) => use.standing === 'missing' && inUseCount(use) > 0)) {
      throw new CommandFailed();
    }
  },
});

const rewrap = commandOf(RewrapSecrets, {
  hasJson: true,
  print(call, done) {
    call.print(done, textOf(done));
    if (done.left.some(({ isRevoked }) => !isRevoked)) throw new CommandFailed();
  },
});

export const secretsCommands: CommandGroup = {
  name: 'secrets',
  description: 'the stored secrets and the keys that seal them',
  commands: [status, rewrap],
};

function textOf({ changed, unchanged, left, keys }: Rewrapped): string {
  const summary = `Sealed again: ${changed}. Sealed so already: ${unchanged}. Left as they are: ${left.length}.\n`;
  return `${summary}${left.map(leftText).join('')}\n${statusText(keys)}`;
}

function leftText({ place, partnerName, isRevoked, why }: FailedSecret): string {
  return `  ${isRevoked ? 'revoked ' : ''}${place} of ${printable(partnerName)}: ${why}\n`;
}

const HEAD = ['KEY', 'IN SECRETS_KEY', 'CREDENTIALS', 'CALLBACKS', 'WEBHOOKS', 'REVOKED'];
const STANDING: Record<KeyStanding, string> = {
  first: 'first: seals',
  older: 'behind: opens',
  missing: 'NOT THERE',
};

function statusText(uses: readonly KeyUse[]): string {
  const rows = uses.map(({ keyId, standing, credentials, callbacks, webhooks, revoked }) => [
    keyId,
    STANDING[standing],
    ...[credentials, callbacks, webhooks, revoked].map(String),
  ]);
  return `${table(HEAD, rows)}\n${uses.map(adviceOn).join('')}`;
}

function adviceOn(use: KeyUse): string {
  const { keyId, standing, revoked } = use;
  const needed = inUseCount(use);
  switch (standing) {
    case 'first':
      return '';
    case 'older':
      return needed + revoked === 0
        ? `Key ${keyId} is no longer used: it can be taken out of SECRETS_KEY. Keep it as long as the backups that need it.\n`
        : `Key ${keyId} is still used: \`secrets rewrap\` puts its secrets under the first one.\n`;
    case 'missing':
      return needed === 0
        ? `Key ${keyId} is named by revoked credentials only, which are no longer opened.\n`
        : `Key ${keyId} is needed and not in SECRETS_KEY: add it behind the first one, separated by a comma; where it is lost, issue new credentials (\`partner rotate\`) and set the callback secrets again.\n`;
  }
}
