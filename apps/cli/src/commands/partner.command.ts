import { InvalidArgumentError } from 'commander';
import {
  CallbackStore,
  CredentialStore,
  PartnerStore,
  type PartnerTerms,
  type RateLimits,
} from '#libs/db';
import { audited, onPartner } from '../audited.js';
import { OptionError } from '../cli.errors.js';
import { OperatorSettings, PartnerSettings } from '../cli.env.js';
import { type Call, command, type CommandGroup, type CommandSpec } from '../command.js';
import { AS, JSON_LINE, option, positiveInteger, required, stakeSet } from '../options.js';
import { type Field, fieldLines, printable } from '../output/text.js';
import {
  CALLBACK_OPTIONS,
  type CallbackOptions,
  hasCallbackOptions,
  readCallbackCredential,
  SECRET_NOTE,
} from '../partner/callback-options.js';
import {
  auditedOptions,
  callbackFields,
  mergeCallback,
  notLiveNote,
  privateNote,
} from '../partner/callback.js';
import { issueCredential, issuedText } from '../partner/credential.js';
import { list, termFields } from './partner-list.command.js';
import { PARTNER, ping } from './partner-ping.command.js';

const MAX_NAME_LENGTH = 100;

/** How much a partner may ask of the api, and of which stake set. */
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

type CreateGiven = CallbackOptions &
  RateLimits & { readonly name: string; readonly stakeSet?: string };

/** With its first credential and, where it is given, its callback; all or nothing. Key and secret are stored nowhere in the clear. */
const create = command({
  name: 'create',
  description: 'create a partner and print its API key and shared secret, once',
  options: [
    required('--name <name>', 'the name of the partner, unique', newName),
    ...termOptions({ rate: 20, burst: 100 }),
    JSON_LINE,
    AS,
    ...CALLBACK_OPTIONS,
  ],
  note: SECRET_NOTE,
  settings: PartnerSettings,
  async action(call, given: CreateGiven) {
    const { name, rate, burst } = given;
    const bound = boundTo(given);
    const keyRing = call.keyRing();
    const credential = await readCallbackCredential(given, call.terminal);
    const change = { options: given, credential, keyRing, partnerName: name };
    const callback = hasCallbackOptions(given) ? mergeCallback(undefined, change) : undefined;
    const { minted, stored } = issueCredential(keyRing);
    const done = call.audited({
      name,
      rate,
      burst,
      ...bound,
      ...auditedOptions(given, credential),
    });
    const { partnerId } = await call.withDatabase((database) =>
      audited(database, done, {}, () =>
        new PartnerStore(database).create(
          { name, rate, burst, ...bound, credential: stored, ...(callback && { callback }) },
          { actor: done.actor, note: { ...done, outcome: 'done' } },
        ),
      ),
    );
    if (callback) call.terminal.err(privateNote(callback) + notLiveNote(callback));
    const issued = { partnerId, ...minted };
    call.print(issued, issuedText(issued));
  },
});

function boundTo({ stakeSet: set }: { readonly stakeSet?: string }): { stakeSet?: string } {
  return set === undefined ? {} : { stakeSet: set };
}

type SetGiven = CallbackOptions & Partial<PartnerTerms> & { readonly name: string };

/** A partner's limits, how it is called and what may be redeemed with it; what is not given stays as it is. */
const set = command({
  name: 'set',
  description: 'set how much a partner may ask, how it is called and what may be redeemed with it',
  arguments: [PARTNER],
  options: [AS, ...termOptions(), ...CALLBACK_OPTIONS],
  note: SECRET_NOTE,
  check(given: SetGiven) {
    if (termsOf(given) === undefined && !hasCallbackOptions(given)) {
      throw new OptionError('Nothing to set: `partner set --help` lists what can be.');
    }
  },
  settings: PartnerSettings,
  async action(call, given: SetGiven) {
    call.terminal.out(fieldLines(await setPartner(call, given)));
  },
});

function termsOf({ rate, burst, ...given }: SetGiven): Partial<PartnerTerms> | undefined {
  const terms = { ...(rate && { rate }), ...(burst && { burst }), ...boundTo(given) };
  return Object.keys(terms).length > 0 ? terms : undefined;
}

/** All that was given or, where it is refused, nothing. */
async function setPartner(call: Call<PartnerSettings>, given: SetGiven): Promise<Field[]> {
  const { rate, burst } = given;
  const terms = termsOf(given);
  const keyRing = call.keyRing();
  const credential = await readCallbackCredential(given, call.terminal);
  const audited = { rate, burst, ...boundTo(given), ...auditedOptions(given, credential) };
  return onPartner(
    call,
    given.name,
    audited,
    async (database, { partnerId, partnerName }, audit) => {
      const name: Field = ['partner', partnerName];
      if (terms !== undefined && !hasCallbackOptions(given)) {
        const store = new PartnerStore(database);
        return [name, ...termFields(await store.setTerms(partnerId, terms, audit))];
      }
      const change = { options: given, credential, keyRing, partnerName };
      const { callback, terms: stored } = await new CallbackStore(database).change(
        partnerId,
        (before) => mergeCallback(before, change),
        { terms, audit },
      );
      call.terminal.err(privateNote(callback) + notLiveNote(callback));
      return [name, ...callbackFields(callback), ...(stored ? termFields(stored) : [])];
    },
  );
}

interface Named {
  /** Name or id of the partner. */
  readonly name: string;
}

/** One more credential, shown this once; the old ones stay good until they are revoked. */
const rotate = command({
  name: 'rotate',
  description: 'issue one more credential, printed once; the old ones work until revoked',
  arguments: [PARTNER],
  options: [JSON_LINE, AS],
  settings: PartnerSettings,
  async action(call, { name, json }: Named & { readonly json?: true }) {
    const { minted, stored } = issueCredential(call.keyRing());
    const { keyPrefix } = stored;
    const { partnerId } = await onPartner(call, name, { keyPrefix }, (database, who, audit) =>
      new CredentialStore(database).add(who.partnerId, stored, audit),
    );
    const issued = { partnerId, ...minted };
    call.print(issued, issuedText(issued));
    if (json !== true) call.terminal.out('The old key works until `partner revoke` ends it.\n');
  },
});

/** No more of a key is stored in the clear; more of it, perhaps all, would end up in the audit. */
const PREFIX = /^svck_[A-Za-z0-9_-]{1,7}$/;

/** Ends one credential. */
const revoke = command({
  name: 'revoke',
  description: 'end a credential; refuses the last active one',
  arguments: [PARTNER],
  options: [
    required(
      '--key-prefix <svck_…>',
      'the first characters of the key, 12 at most, as `partner list` shows them',
      keyPrefixText,
    ),
    option('--force', 'also the last active one: every call of the partner is refused then'),
    AS,
  ],
  settings: OperatorSettings,
  async action(
    call,
    { name, keyPrefix, force = false }: Named & { keyPrefix: string; force?: boolean },
  ) {
    const revoked = await onPartner(call, name, { keyPrefix, force }, (database, who, audit) =>
      new CredentialStore(database).revoke({ partner: who.partnerId, keyPrefix, force }, audit),
    );
    call.terminal.out(
      `${revoked.keyPrefix}… is revoked; ${revoked.left} active left. The api may know the key for some seconds more.\n`,
    );
  },
});

/** The kill switch. */
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
    async action(call, { name }: Named) {
      const { partnerName } = await onPartner(call, name, {}, async (database, who, audit) => {
        await new CallbackStore(database).pause(who.partnerId, paused, audit);
        return who;
      });
      call.terminal.out(`${printable(partnerName)} ${done}\n`);
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
  commands: [create, set, list, rotate, revoke, pause, resume, ping],
};

function newName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > MAX_NAME_LENGTH || /\p{C}/u.test(name)) {
    throw new InvalidArgumentError(`Expected 1 to ${MAX_NAME_LENGTH} characters.`);
  }
  return name;
}

function keyPrefixText(text: string): string {
  if (!PREFIX.test(text)) {
    throw new InvalidArgumentError('Expected svck_ and 1 to 7 characters more, not the whole key.');
  }
  return text;
}
