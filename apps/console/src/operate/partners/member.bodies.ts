import { ApiSchema } from '@nestjs/swagger';
import { type Invitation } from '#libs/db';
import { Field } from '#libs/openapi';
import { INVITATION_STATES, invitationState } from '#libs/operations';

@ApiSchema({ name: 'PartnerMember' })
export class MemberBody {
  @Field.Text('How the person signs in, and as whom.') readonly subject!: string;
  @Field.Text() readonly name!: string;
  @Field.Time() readonly addedAt!: Date;
}

@ApiSchema({ name: 'PartnerInvitation' })
export class InvitationBody {
  @Field.Text() readonly id!: string;
  @Field.OneOf(INVITATION_STATES) readonly state!: (typeof INVITATION_STATES)[number];
  @Field.Text('Whom it is for.') readonly note!: string;
  @Field.Text() readonly invitedBy!: string;
  @Field.Time() readonly createdAt!: Date;
  @Field.Time() readonly expiresAt!: Date;
  @Field.TextOrNull() readonly acceptedBy!: string | null;
}

@ApiSchema({ name: 'PartnerMembers' })
export class MembersBody {
  @Field.ListOf(MemberBody) readonly members!: MemberBody[];
  @Field.ListOf(InvitationBody, 'Newest first.') readonly invitations!: InvitationBody[];
}

@ApiSchema({ name: 'Invited' })
export class InvitedBody {
  @Field.Text('Shown once.') readonly url!: string;
  @Field.Time() readonly expiresAt!: Date;
}

export function invitationBody(invitation: Invitation, nowMs: number): InvitationBody {
  const { id, note, invitedBy, createdAt, expiresAt, acceptedBy } = invitation;
  const state = invitationState(invitation, nowMs);
  return { id: id.toString(), state, note, invitedBy, createdAt, expiresAt, acceptedBy };
}
