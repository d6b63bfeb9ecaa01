import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type Invitation } from '#libs/db';
import { INVITATION_STATES, invitationState } from '#libs/operations';
import { TEXT, TEXT_OR_NULL, TIME } from '../schema.js';

@ApiSchema({ name: 'PartnerMember' })
export class MemberBody {
  @ApiProperty({ ...TEXT, description: 'How the person signs in, and as whom.' })
  readonly subject!: string;

  @ApiProperty(TEXT)
  readonly name!: string;

  @ApiProperty(TIME)
  readonly addedAt!: string;
}

@ApiSchema({ name: 'PartnerInvitation' })
export class InvitationBody {
  @ApiProperty(TEXT)
  readonly id!: string;

  @ApiProperty({ enum: INVITATION_STATES })
  readonly state!: (typeof INVITATION_STATES)[number];

  @ApiProperty({ ...TEXT, description: 'Whom it is for.' })
  readonly note!: string;

  @ApiProperty(TEXT)
  readonly invitedBy!: string;

  @ApiProperty(TIME)
  readonly createdAt!: string;

  @ApiProperty(TIME)
  readonly expiresAt!: string;

  @ApiProperty(TEXT_OR_NULL)
  readonly acceptedBy!: string | null;
}

@ApiSchema({ name: 'PartnerMembers' })
export class MembersBody {
  @ApiProperty({ type: [MemberBody] })
  readonly members!: MemberBody[];

  @ApiProperty({ type: [InvitationBody], description: 'Newest first.' })
  readonly invitations!: InvitationBody[];
}

@ApiSchema({ name: 'Invited' })
export class InvitedBody {
  @ApiProperty({ ...TEXT, description: 'Shown once.' })
  readonly url!: string;

  @ApiProperty(TIME)
  readonly expiresAt!: string;
}

export function invitationBody(invitation: Invitation, nowMs: number): InvitationBody {
  const { id, note, invitedBy, createdAt, expiresAt, acceptedBy } = invitation;
  return {
    ...{
      id: id.toString(),
      state: invitationState(invitation, nowMs),
      note,
      invitedBy,
      acceptedBy,
    },
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}
