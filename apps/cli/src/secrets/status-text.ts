import { table } from '../output/table.js';
import { type KeyStanding, type KeyUse, neededOf } from './secrets-status.js';

const HEAD = ['KEY', 'IN SECRETS_KEY', 'CREDENTIALS', 'CALLBACKS', 'REVOKED'];
const STANDING: Record<KeyStanding, string> = {
  first: 'first: seals',
  older: 'behind: opens',
  missing: 'NOT THERE',
};

export function statusText(uses: readonly KeyUse[]): string {
  const rows = uses.map(({ keyId, standing, credentials, callbacks, revoked }) => [
    keyId,
    STANDING[standing],
    ...[credentials, callbacks, revoked].map(String),
  ]);
  return `${table(HEAD, rows)}\n${uses.map(adviceOn).join('')}`;
}

function adviceOn(use: KeyUse): string {
  const { keyId, standing, revoked } = use;
  const needed = neededOf(use);
  switch (standing) {
    case 'first':
      return '';
    case 'older':
      return needed + revoked === 0
        ? `Key ${keyId} is not used any more: it can be taken out of SECRETS_KEY. Keep it as long as the backups that need it.\n`
        : `Key ${keyId} is still used: \`secrets rewrap\` puts its secrets under the first one.\n`;
    case 'missing':
      return needed === 0
        ? `Key ${keyId} is named by revoked credentials only, which nothing opens any more.\n`
        : `Key ${keyId} is needed and not in SECRETS_KEY: add it behind the first one, separated by a comma; where it is lost, issue new credentials (\`partner rotate\`) and set the callback secrets again.\n`;
  }
}
