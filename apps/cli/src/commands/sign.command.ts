import { CallbackStore, PartnerMissingError } from '#libs/db';
import { readSettings, sessionUrl } from '#libs/config';
import { OptionError, resolvePartner } from '#libs/operations';
import { explainSignature, type SignatureExplanation } from '#libs/partner-sdk/conformance';
import { hashApiKey, KeyRing } from '#libs/signing';
import { PartnerSettings } from '../cli.env.js';
import { type Call, command, CommandFailed, withDatabase } from '../command.js';
import { JSON_LINE, option, required } from '../options.js';
import { fieldLines } from '../output/text.js';
import { readOptionFile, readSecret } from '../partner/credential.js';

interface Given {
  readonly method: string;
  readonly path: string;
  readonly requestId?: string;
  readonly body?: string;
  readonly bodyFile?: string;
  readonly secret?: string;
  readonly secretFile?: string;
  readonly partner?: string;
  readonly signature?: string;
}

/**
 * Shows the signed content and the signature of one message, and which mistake explains a different signature. Sends
 * nothing.
 */
export const signCommand = command({
  name: 'sign',
  description: 'show what is signed, the signature, and where another one differs',
  options: [
    required('--method <method>', 'of the request, as sent: POST'),
    required('--path <path>', 'of the URL as sent; a whole URL is cut to it'),
    option('--request-id <id>', 'X-API-REQUEST; not for answers of the staking API'),
    option('--body <text>', 'the body, byte for byte'),
    option('--body-file <path>', 'the file that holds the body; nothing is trimmed'),
    option('--secret <secret>', 'the shared secret; - reads it from the standard input'),
    option('--secret-file <path>', 'the file that holds the shared secret'),
    option('--partner <name>', 'in place of a secret: the one of the callbacks of this partner'),
    option('--signature <signature>', 'the one to compare with'),
    JSON_LINE,
  ],
  async action(call, given: Given) {
    const { method, path, requestId, signature } = given;
    const secret = await secretOf(call, given);
    const body = await bodyOf(given);
    const message = { secret, method, path, requestId, body, given: signature };
    const explained = explainSignature(message);
    call.print(explained, textOf(explained));
    if (explained.matches === false) throw new CommandFailed();
  },
});

async function secretOf(call: Call, given: Given): Promise<string> {
  const { secret: value, secretFile: file, partner } = given;
  const secret = await readSecret({ value, file, option: '--secret' }, call.terminal);
  if ((secret === undefined) === (partner === undefined)) {
    throw new OptionError('Give one of --secret-file, --secret and --partner.');
  }
  if (secret !== undefined) return secret;
  const settings = readSettings(PartnerSettings, call.source);
  const { secretsKey } = settings;
  const callback = await withDatabase(sessionUrl(settings), async (database) => {
    const { partnerId } = await resolvePartner(database, partner ?? '');
    return new CallbackStore(database).find(partnerId);
  });
  if (callback === undefined) throw new PartnerMissingError();
  return KeyRing.parse(secretsKey).open(callback.secretCiphertext, hashApiKey(callback.key));
}

async function bodyOf({ body, bodyFile }: Given): Promise<string> {
  if (body !== undefined && bodyFile !== undefined) {
    throw new OptionError('Give either --body or --body-file.');
  }
  return bodyFile === undefined ? (body ?? '') : readOptionFile(bodyFile, '--body-file');
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
