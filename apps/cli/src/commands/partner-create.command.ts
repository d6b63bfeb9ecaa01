import { Command, InvalidArgumentError } from 'commander';
import { readSettings, type SettingsSource } from '#libs/config';
import { createDatabase, PartnerStore } from '#libs/db';
import { hashApiKey, KeyRing, mintCredential } from '#libs/signing';
import { PartnerSettings } from '../cli.env.js';
import { type Terminal } from './terminal.js';

const KEY_PREFIX_LENGTH = 12;
const MAX_NAME_LENGTH = 100;
const MAX_INT = 2_147_483_647;

interface Options {
  readonly name: string;
  readonly rate: number;
  readonly burst: number;
  readonly json?: true;
}

interface IssuedCredential {
  readonly partnerId: string;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

/** `partner create`: a partner with its first credential. Key and secret are shown this once and stored nowhere in the clear. */
export function partnerCreateCommand(source: () => SettingsSource, terminal: Terminal): Command {
  return new Command('create')
    .description('create a partner and print its API key and shared secret, once')
    .requiredOption('--name <name>', 'the name of the partner, unique', partnerName)
    .option('--rate <requests>', 'requests per second', positiveInteger, 20)
    .option('--burst <requests>', 'requests at once', positiveInteger, 100)
    .option('--json', 'print one line of JSON')
    .action(async (options: Options) => {
      const issued = await createPartner(readSettings(PartnerSettings, source()), options);
      terminal.out(options.json === true ? `${JSON.stringify(issued)}\n` : described(issued));
    });
}

async function createPartner(
  settings: PartnerSettings,
  options: Options,
): Promise<IssuedCredential> {
  const keyRing = KeyRing.parse(settings.secretsKey);
  const { apiKey, sharedSecret } = mintCredential();
  const keyHash = hashApiKey(apiKey);
  const database = await createDatabase({
    url: settings.databaseUrl,
    applicationName: 'lowmark cli',
    poolSize: 1,
  });
  try {
    const { partnerId } = await new PartnerStore(database).create({
      name: options.name,
      rate: options.rate,
      burst: options.burst,
      credential: {
        keyHash,
        keyPrefix: apiKey.slice(0, KEY_PREFIX_LENGTH),
        secretCiphertext: keyRing.seal(sharedSecret, keyHash),
      },
    });
    return { partnerId, apiKey, sharedSecret };
  } finally {
    await database.close();
  }
}

function described({ partnerId, apiKey, sharedSecret }: IssuedCredential): string {
  return [
    `partner        ${partnerId}`,
    `API key        ${apiKey}`,
    `shared secret  ${sharedSecret}`,
    '',
    'Hand both over by a safe way: they cannot be shown again.',
    '',
  ].join('\n');
}

function partnerName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > MAX_NAME_LENGTH) {
    throw new InvalidArgumentError(`Expected 1 to ${MAX_NAME_LENGTH} characters.`);
  }
  return name;
}

function positiveInteger(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > MAX_INT) {
    throw new InvalidArgumentError('Expected a whole number of at least 1.');
  }
  return value;
}
