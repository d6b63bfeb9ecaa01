import { type CallbackSettings, type PartnerTerms, type RateLimits } from '#libs/db';
import {
  callbackNotes,
  createPartner,
  type IssuedCredential,
  KEY_PREFIX,
  NOTHING_TO_SET,
  OptionError,
  partnerLabel,
  pausePartner,
  renamePartner,
  revokeCredential,
  rotateCredential,
  setPartner,
} from '#libs/operations';
import { OperatorSettings, PartnerSettings } from '../cli.env.js';
import { type Call, command, type CommandGroup, type CommandSpec } from '../command.js';
import {
  AS,
  JSON_LINE,
  matching,
  option,
  partnerName,
  positiveInteger,
  required,
  stakeSet,
} from '../options.js';
import { type Field, fieldLines } from '../output/text.js';
import {
  CALLBACK_OPTIONS,
  type CallbackOptions,
  hasCallbackOptions,
  readCallbackChange,
  SECRET_NOTE,
} from '../partner/callback-options.js';
import { callbackFields, list, rateLimitFields } from './partner-list.command.js';
import { peopleCommands } from './partner-people.command.js';
import { type PartnerArgument, PARTNER, ping } from './partner-ping.command.js';
import { webhookCommands } from './partner-webhook.command.js';

/** Options for a partner's rate limits at the api, and for its stake set. */
function termOptions(defaults: Partial<RateLimits> = {}) {
  return [
    option('--rate <requests>', 'requests per second', positiveInteger, defaults.rate),
    option('--burst <requests>', 'requests at once', positiveInteger, defaults.burst),
    option(
      '--stake-set <name>',
      'the stake set that its requests mean where they name no contract; default: the one without a name',
      stakeSet,
    ),
  ];
}

type CreateGiven = CallbackOptions & RateLimits & PartnerArgument & { readonly stakeSet?: string };

const create = command({
  name: 'create',
  description: 'create a partner and print its API key and shared secret, once',
  options: [
    required(
      '--name <name>',
      'the partner’s name, which must not look like another partner’s: one script, no invisible characters, no leading dash',
      partnerName,
    ),
    ...termOptions({ rate: 20, burst: 100 }),
    JSON_LINE,
    AS,
    ...CALLBACK_OPTIONS,
  ],
  note: SECRET_NOTE,
  settings: PartnerSettings,
  async action(call, given: CreateGiven) {
    const { name, rate, burst, stakeSet: set } = given;
    const keyRing = call.keyRing();
    const change = await readCallbackChange(given, call.terminal);
    const partner = { name, rate, burst, stakeSet: set, callback: change };
    const { issued, callback } = await call.withDatabase(
      createPartner,
      call.operator,
      partner,
      keyRing,
    );
    if (callback) printNotes(call, callback);
    const created = partnerLabel({ partnerId: issued.partnerId, partnerName: name });
    call.print(issued, issuedText(issued, created));
  },
});

function printNotes({ terminal }: Call<PartnerSettings>, callback: CallbackSettings): void {
  terminal.err(
    callbackNotes(callback)
      .map((note) => `${note}\n`)
      .join(''),
  );
}

type SetGiven = CallbackOptions & Partial<PartnerTerms> & PartnerArgument;

const setCommand = command({
  name: 'set',
  description: 'set how much a partner may ask, how it is called and what may be redeemed with it',
  arguments: [PARTNER],
  options: [AS, ...termOptions(), ...CALLBACK_OPTIONS],
  note: SECRET_NOTE,
  check(given: SetGiven) {
    const { rate, burst, stakeSet: set } = given;
    if (!(rate ?? burst ?? set) && !hasCallbackOptions(given)) {
      throw new OptionError(NOTHING_TO_SET);
    }
  },
  settings: PartnerSettings,
  async action(call, given: SetGiven) {
    const { name, rate, burst, stakeSet: set } = given;
    const keyRing = call.keyRing();
    const callback = await readCallbackChange(given, call.terminal);
    const changed = await call.withPartner(name, (database, { partnerId: partner }) => {
      const change = { partner, rate, burst, stakeSet: set, callback };
      return setPartner(database, call.operator, change, keyRing);
    });
    if (changed.callback) printNotes(call, changed.callback);
    const fields: Field[] = [
      ['partner', partnerLabel(changed)],
      ...(changed.callback ? callbackFields(changed.callback) : []),
      ...(changed.terms ? rateLimitFields(changed.terms) : []),
    ];
    call.terminal.out(fieldLines(fields));
  },
});

const rename = command({
  name: 'rename',
  description: 'give a partner another name; its id, keys and redemptions stay',
  arguments: [PARTNER],
  options: [
    required('--to <name>', 'the new name, by the rules of `partner create`', partnerName),
    AS,
  ],
  settings: OperatorSettings,
  async action(call, given: PartnerArgument & { readonly to: string }) {
    const { name: before, to: name } = given;
    const renamed = await call.withPartner(before, (database, { partnerId: partner }) =>
      renamePartner(database, call.operator, { partner, name }),
    );
    call.terminal.out(`${partnerLabel(renamed)} is now called ${name}.\n`);
  },
});

const rotate = command({
  name: 'rotate',
  description: 'issue one more credential, printed once; the old ones work until revoked',
  arguments: [PARTNER],
  options: [JSON_LINE, AS],
  settings: PartnerSettings,
  async action(call, { name, json }: PartnerArgument & { readonly json?: true }) {
    const keyRing = call.keyRing();
    const issued = await call.withPartner(name, (database, { partnerId: partner }) =>
      rotateCredential(database, call.operator, { partner }, keyRing),
    );
    call.print(issued, issuedText(issued));
    if (json !== true) call.terminal.out('The old key works until `partner revoke` ends it.\n');
  },
});

const revoke = command({
  name: 'revoke',
  description: 'end a credential; refuses the last active one',
  arguments: [PARTNER],
  options: [
    required(
      '--key-prefix <svck_…>',
      'the first characters of the key, 12 at most, as `partner list` shows them',
      matching(KEY_PREFIX, 'svck_ and 1 to 7 characters more, not the whole key.'),
    ),
    option('--force', 'also the last active one: every call of the partner is refused then'),
    AS,
  ],
  settings: OperatorSettings,
  async action(
    call,
    { name, keyPrefix, force = false }: PartnerArgument & { keyPrefix: string; force?: boolean },
  ) {
    const revoked = await call.withPartner(name, (database, { partnerId: partner }) =>
      revokeCredential(database, call.operator, { partner, keyPrefix, force }),
    );
    call.terminal.out(
      `${revoked.keyPrefix}… of ${partnerLabel(revoked)}, is revoked; ${revoked.left} active left. The api may know the key for some seconds more.\n`,
    );
  },
});

function pauseCommand(
  spec: { readonly name: string; readonly description: string },
  paused: boolean,
  done: string,
): CommandSpec {
  return command({
    ...spec,
    arguments: [PARTNER],
    options: [AS],
    settings: OperatorSettings,
    async action(call, { name }: PartnerArgument) {
      const partner = await call.withPartner(name, (database, { partnerId }) =>
        pausePartner(database, call.operator, partnerId, paused),
      );
      call.terminal.out(`${partnerLabel(partner)}, ${done}\n`);
    },
  });
}

const pause = pauseCommand(
  {
    name: 'pause',
    description: 'take no new redemptions with a partner; those under way go on',
  },
  true,
  'takes no new redemptions; those under way go on.',
);
const resume = pauseCommand(
  { name: 'resume', description: 'take redemptions with a partner again' },
  false,
  'takes redemptions again.',
);

export const partnerCommands: CommandGroup = {
  name: 'partner',
  description: 'partners, their credentials and their callbacks',
  commands: [
    ...[create, setCommand, rename, list, rotate, revoke],
    ...[...peopleCommands, pause, resume, ping, webhookCommands],
  ],
};

function issuedText(
  { partnerId, apiKey, sharedSecret }: IssuedCredential,
  partner: string = partnerId,
): string {
  return [
    `partner        ${partner}`,
    `API key        ${apiKey}`,
    `shared secret  ${sharedSecret}`,
    '',
    'Hand both over by a safe way: they cannot be shown again.',
    '',
  ].join('\n');
}
