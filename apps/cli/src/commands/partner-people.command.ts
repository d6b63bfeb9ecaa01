import { InvitationStore, MemberStore } from '#libs/db';
import {
  invitationState,
  invitePartner,
  isPlainLine,
  moment,
  OptionError,
  partnerLabel,
  printable,
  REMOVE_MEMBER_CONSEQUENCE,
  removeMember,
  resolvePartner,
  withdrawInvitation,
} from '#libs/operations';
import { ConsoleLinkSettings, OperatorSettings } from '../cli.env.js';
import { command } from '../command.js';
import { AS, expecting, JSON_LINE, LIMIT, required, YES } from '../options.js';
import { fieldLines } from '../output/text.js';
import { type PartnerArgument, PARTNER } from './partner-ping.command.js';

const invite = command({
  name: 'invite',
  description: 'print a link that makes who opens it and signs in a member of the partner, once',
  arguments: [PARTNER],
  options: [
    required(
      '--note <text>',
      'whom it is for: an address or a name, for the list',
      expecting(
        '1 to 255 characters in one line, none of them a control, direction or invisible one.',
        noteOf,
      ),
    ),
    JSON_LINE,
    AS,
  ],
  settings: ConsoleLinkSettings,
  async action(call, { name, note }: PartnerArgument & { readonly note: string }) {
    const made = await call.withPartner(name, (database, { partnerId: partner }) => {
      const wish = { partner, note, origin: call.settings.consoleOrigin };
      return invitePartner(database, call.clock, call.operator, wish);
    });
    const expires = moment(made.expiresAt.getTime()) ?? '';
    call.print(
      made,
      `${made.url}\nIt makes one person a member of ${partnerLabel(made)}, until ${expires}.\n`,
    );
  },
});

const members = command({
  name: 'members',
  description: 'list who may act for the partner on the web pages, and its newest invitations',
  arguments: [PARTNER],
  options: [LIMIT, JSON_LINE],
  settings: OperatorSettings,
  async action(call, { name }: PartnerArgument) {
    const nowMs = call.clock.nowMs();
    const found = await call.withDatabase(async (database) => {
      const { partnerId } = await resolvePartner(database, name);
      const invitations = await new InvitationStore(database).list(partnerId, {
        limit: call.limit,
      });
      return {
        members: await new MemberStore(database).list(partnerId),
        invitations: invitations.map((one) => ({
          ...{ id: one.id.toString(), state: invitationState(one, nowMs), note: one.note },
          ...{ invitedBy: one.invitedBy, expiresAt: one.expiresAt, acceptedBy: one.acceptedBy },
        })),
      };
    });
    const people = found.members.map(({ subject, name: person, addedAt }) =>
      fieldLines([
        ['member', printable(subject)],
        ['name', printable(person)],
        ['since', moment(addedAt)],
      ]),
    );
    const invited = found.invitations.map(({ id, state, note, invitedBy, expiresAt }) =>
      fieldLines([
        ['invitation', `${id}, ${state}`],
        ['for', printable(note)],
        ['by', printable(invitedBy)],
        ['until', moment(expiresAt)],
      ]),
    );
    const text = [...people, ...invited].join('\n');
    call.print(found, text || 'It has no member and no invitation: `partner invite` makes one.\n');
  },
});

const withdraw = command({
  name: 'withdraw-invitation',
  description: 'make the link of an invitation useless that was not accepted yet',
  arguments: [PARTNER],
  options: [
    required(
      '--invitation <number>',
      'its number, as `partner members` shows it',
      expecting('the number of an invitation.', (text) =>
        /^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : undefined,
      ),
    ),
    AS,
  ],
  settings: OperatorSettings,
  async action(call, { name, invitation }: PartnerArgument & { readonly invitation: bigint }) {
    const isDone = await call.withPartner(name, (database, { partnerId: partner }) =>
      withdrawInvitation(database, call.clock, call.operator, { partner, invitation }),
    );
    if (!isDone) {
      throw new OptionError(
        'There is no such invitation of this partner that is open: `partner members` lists them.',
      );
    }
    call.terminal.out(`Invitation ${invitation} is withdrawn: its link is of no use any more.\n`);
  },
});

const remove = command({
  name: 'remove-member',
  description: 'end what a person may do for the partner on the web pages, and their sessions',
  arguments: [PARTNER],
  options: [
    required('--subject <text>', 'how the person signs in, as `partner members` shows it'),
    YES,
    AS,
  ],
  settings: OperatorSettings,
  async action(call, { name, subject }: PartnerArgument & { readonly subject: string }) {
    const isDone = await call.withPartner(name, async (database, { partnerId: partner }) => {
      await call.confirm(REMOVE_MEMBER_CONSEQUENCE);
      return removeMember(database, call.clock, call.operator, { partner, subject });
    });
    if (!isDone) {
      throw new OptionError(
        'There is no such member of this partner: `partner members` lists them.',
      );
    }
    call.terminal.out(`${printable(subject)} is no member any more, and is signed out.\n`);
  },
});

export const peopleCommands = [invite, members, withdraw, remove] as const;

function noteOf(text: string): string | undefined {
  const note = text.trim();
  return note.length <= 255 && isPlainLine(note) ? note : undefined;
}
