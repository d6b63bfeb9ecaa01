import { type CallbackSettings } from '#libs/db';
import {
  AddCredential,
  callbackNotes,
  CreatePartner,
  InviteMember,
  type IssuedCredential,
  moment,
  partnerLabel,
  PausePartner,
  RemoveMember,
  RenamePartner,
  ResumePartner,
  RevokeCredential,
  SetPartner,
  WithdrawInvitation,
} from '#libs/operations';
import { type Call, type CommandGroup } from '../command.js';
import { commandOf } from '../operation-command.js';
import { type Field, fieldLines } from '../output/text.js';
import { CAPABILITIES_FROM, withCapabilities } from '../partner/capabilities-from.js';
import { callbackFields, list, termFields } from './partner-list.command.js';
import { members } from './partner-people.command.js';
import { ping } from './partner-ping.command.js';
import { webhookCommands } from './partner-webhook.command.js';

const SECRET_NOTE = `
Key and secret are best read from files (--callback-key-file, --callback-secret-file), the secret also from the
standard input (--callback-secret -): arguments are in the process list and in the shell's history.`;

const create = commandOf(CreatePartner, {
  note: SECRET_NOTE,
  hasJson: true,
  options: [CAPABILITIES_FROM],
  amend: withCapabilities,
  print(call, { issued, name, callback }) {
    if (callback) printNotes(call, callback);
    const created = partnerLabel({ partnerId: issued.partnerId, partnerName: name });
    call.print(issued, issuedText(issued, created));
  },
});

const set = commandOf(SetPartner, {
  note: SECRET_NOTE,
  options: [CAPABILITIES_FROM],
  amend: withCapabilities,
  print(call, changed) {
    if (changed.callback) printNotes(call, changed.callback);
    const fields: Field[] = [
      ['partner', partnerLabel(changed)],
      ...(changed.callback ? callbackFields(changed.callback) : []),
      ...(changed.terms ? termFields(changed.terms) : []),
    ];
    call.terminal.out(fieldLines(fields));
  },
});

const rotate = commandOf(AddCredential, {
  hasJson: true,
  print(call, issued) {
    call.print(
      issued,
      `${issuedText(issued)}The old key works until \`partner revoke\` ends it.\n`,
    );
  },
});

const invite = commandOf(InviteMember, {
  hasJson: true,
  print(call, made) {
    const expires = moment(made.expiresAt) ?? '';
    call.print(
      made,
      `${made.url}\nIt makes one person a member of ${partnerLabel(made)}, until ${expires}.\n`,
    );
  },
});

function printNotes({ terminal }: Call, callback: CallbackSettings): void {
  terminal.err(
    callbackNotes(callback)
      .map((note) => `${note}\n`)
      .join(''),
  );
}

export const partnerCommands: CommandGroup = {
  name: 'partner',
  description: 'partners, their credentials and their callbacks',
  commands: [
    ...[create, set, commandOf(RenamePartner), list, rotate, commandOf(RevokeCredential)],
    ...[invite, members, commandOf(WithdrawInvitation), commandOf(RemoveMember)],
    ...[commandOf(PausePartner), commandOf(ResumePartner), ping, webhookCommands],
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
