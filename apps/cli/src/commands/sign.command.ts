import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { CallbackStore, PartnerMissingError, PartnerStore, PartnerUnknownError } from '#libs/db';
import { explainSignature, hashApiKey, KeyRing, type SignatureExplanation } from '#libs/signing';
import { PartnerSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { OptionError } from '../option.error.js';
import { fieldLines } from '../output/fields.js';
import { jsonLine } from '../output/json-line.js';
import { readSecret } from '../secret-source.js';
import { withDatabase } from '../with-database.js';

interface Options {
  readonly method: string;
  readonly path: string;
  readonly requestId?: string;
  readonly body?: string;
  readonly bodyFile?: string;
  readonly secret?: string;
  readonly secretFile?: string;
  readonly partner?: string;
  readonly signature?: string;
  readonly json?: true;
}

/** `sign`: the signed content and the signature of one message, and which mistake made another signature. Sends nothing. */
export function signCommand(context: CommandContext): Command {
  return new Command('sign')
    .description('show what is signed, the signature, and where another one differs')
    .requiredOption('--method <method>', 'of the request, as sent: POST')
    .requiredOption('--path <path>', 'of the URL as sent; a whole URL is cut to it')
    .option('--request-id <id>', 'X-API-REQUEST; not for answers of the staking API')
    .option('--body <text>', 'the body, byte for byte')
    .option('--body-file <path>', 'the file that holds the body; nothing is trimmed')
    .option('--secret <secret>', 'the shared secret; - reads it from the standard input')
    .option('--secret-file <path>', 'the file that holds the shared secret')
    .option('--partner <name>', 'in place of a secret: the one of the callbacks of this partner')
    .option('--signature <signature>', 'the one to compare with')
    .option('--json', 'print one line of JSON')
    .action(async (options: Options) => {
      const { method, path, requestId, signature: given } = options;
      const secret = await secretOf(context, options);
      const body = await bodyOf(options);
      const explained = explainSignature({ secret, method, path, requestId, body, given });
      context.terminal.out(options.json === true ? jsonLine(explained) : textOf(explained));
      if (explained.matches === false) throw new CommandFailed();
    });
}

async function secretOf({ source, terminal }: CommandContext, options: Options): Promise<string> {
  const { secret: value, secretFile: file, partner } = options;
  const given = await readSecret({ value, file, option: '--secret' }, terminal);
  if ((given === undefined) === (partner === undefined)) {
    throw new OptionError('Give one of --secret-file, --secret and --partner.');
  }
  if (given !== undefined) return given;
  const { databaseUrl, secretsKey } = readSettings(PartnerSettings, source());
  const callback = await withDatabase(databaseUrl, async (database) => {
    const who = await new PartnerStore(database).identify(partner ?? '');
    if (who === undefined) throw new PartnerUnknownError();
    return new CallbackStore(database).find(who.partnerId);
  });
  if (callback === undefined) throw new PartnerMissingError();
  return KeyRing.parse(secretsKey).open(callback.secretCiphertext, hashApiKey(callback.key));
}

async function bodyOf({ body, bodyFile }: Options): Promise<string> {
  if (body !== undefined && bodyFile !== undefined) {
    throw new OptionError('Give either --body or --body-file.');
  }
  if (bodyFile === undefined) return body ?? '';
  try {
    return await readFile(bodyFile, 'utf8');
  } catch (error) {
    const { code = 'no code' } = error as NodeJS.ErrnoException;
    throw new OptionError(`The file of --body-file cannot be read (${code}).`);
  }
}

function textOf({ content, signature, matches, mistakes }: SignatureExplanation): string {
  const verdict =
    matches === undefined
      ? undefined
      : matches
        ? 'it is the one given'
        : 'the one given is another';
  const unknown =
    matches === false && mistakes.length === 0
      ? 'none that is known makes the one given: compare the secret, and each part of the content'
      : undefined;
  return fieldLines([
    ['content', content],
    ['signature', signature],
    ['verdict', verdict],
    ...mistakes.map((mistake): [string, string] => ['mistake', mistake]),
    ['mistake', unknown],
  ]);
}
