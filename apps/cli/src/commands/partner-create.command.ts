import { Command, InvalidArgumentError } from 'commander';
import { readSettings } from '#libs/config';
import { PartnerStore } from '#libs/db';
import { KeyRing } from '#libs/signing';
import {
  addCallbackOptions,
  type CallbackOptions,
  hasCallbackOptions,
  readCallbackCredential,
} from '../callback/callback-options.js';
import { auditedOptions, notLiveNote, privateNote } from '../callback/callback-text.js';
import { issueCredential } from '../callback/issue-credential.js';
import { type IssuedCredential, issuedText } from '../callback/issued-credential.js';
import { mergeCallback } from '../callback/merge-callback.js';
import { addRateOptions } from '../callback/rate-options.js';
import { PartnerSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { audited } from '../operator/audited.js';
import { withDatabase } from '../with-database.js';

const MAX_NAME_LENGTH = 100;
const COMMAND = 'partner create';

interface Options extends CallbackOptions {
  readonly name: string;
  readonly rate: number;
  readonly burst: number;
  readonly json?: true;
  readonly as?: string;
}

/**
 * `partner create`: a partner with its first credential and, where it is given, its callback; all or nothing. Key and secret are
 * shown this once and stored nowhere in the clear.
 */
export function partnerCreateCommand(context: CommandContext): Command {
  const named = new Command('create')
    .description('create a partner and print its API key and shared secret, once')
    .requiredOption('--name <name>', 'the name of the partner, unique', partnerName);
  const command = addRateOptions(named, { rate: 20, burst: 100 })
    .option('--json', 'print one line of JSON')
    .addOption(actorOption());
  return addCallbackOptions(command).action(async (options: Options) => {
    const settings = readSettings(PartnerSettings, context.source());
    const issued = await createPartner(context, settings, options);
    context.terminal.out(issuedText(issued, options.json === true));
  });
}

async function createPartner(
  { terminal }: CommandContext,
  settings: PartnerSettings,
  options: Options,
): Promise<IssuedCredential> {
  const { name, rate, burst } = options;
  const keyRing = KeyRing.parse(settings.secretsKey);
  const given = await readCallbackCredential(options, terminal);
  const callback = hasCallbackOptions(options)
    ? {
        callback: mergeCallback(undefined, {
          options,
          credential: given,
          keyRing,
          partnerName: name,
        }),
      }
    : {};
  const { minted, stored: credential } = issueCredential(keyRing);
  const noted = { name, rate, burst, ...auditedOptions(options, given) };
  const done = { command: COMMAND, arguments: noted, actor: actorOf(options) };
  return withDatabase(settings.databaseUrl, async (database) => {
    const { partnerId } = await audited(database, done, {}, () =>
      new PartnerStore(database).create(
        { name, rate, burst, credential, ...callback },
        { actor: done.actor, note: { ...done, outcome: 'done' } },
      ),
    );
    if (callback.callback !== undefined) {
      terminal.err(privateNote(callback.callback) + notLiveNote(callback.callback));
    }
    return { partnerId, ...minted };
  });
}

function partnerName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > MAX_NAME_LENGTH || /\p{C}/u.test(name)) {
    throw new InvalidArgumentError(`Expected 1 to ${MAX_NAME_LENGTH} characters.`);
  }
  return name;
}
