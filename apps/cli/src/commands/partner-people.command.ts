import { InvitationStore, MemberStore } from '#libs/db';
import { invitationState, moment, printable, resolvePartner } from '#libs/operations';
import { OperatorSettings } from '../cli.env.js';
import { command } from '../command.js';
import { PARTNER, type PartnerArgument } from '../operation-command.js';
import { JSON_LINE, LIMIT } from '../options.js';
import { fieldLines } from '../output/text.js';

export const members = command({
  name: 'members',
  description: 'list who may act for the partner on the web pages, and its newest invitations',
  arguments: [PARTNER],
  options: [LIMIT, JSON_LINE],
  settings: OperatorSettings,
  async action(call, { name }: PartnerArgument) {
    const nowMs = call.clock.nowMs();
    const found = await call.withDatabase(async (database) => {
      const { partnerId } = await resolvePartner(database, name);
      const invitations = await new InvitationStore(database).list(partnerId, call.limit);
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
