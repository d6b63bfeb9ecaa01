import { Controller, Get, Inject, Param, UseInterceptors } from '@nestjs/common';
import { ApiParam, ApiSchema } from '@nestjs/swagger';
import { type Invitation, InvitationStore, MemberStore } from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { INVITATION_STATES, invitationState } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { ForOperators } from '../../auth/audience.js';
import { REFUSALS } from '../refusals.js';
import { PAGE_SIZE } from '../schema.js';
import { PARTNER_ID, partnerIdOf } from './partner.requests.js';

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

/** The members of a partner, who may act for it on the partners' pages, and invitations of new ones. */
@Controller('api/operate/partners/:partner')
@ApiParam(PARTNER_ID)
@ForOperators('viewer')
@UseInterceptors(REFUSALS)
export class MembersController {
  constructor(
    private readonly members: MemberStore,
    private readonly invitations: InvitationStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('members')
  @Operation('Its members', 'And the newest 50 invitations.')
  @Answers(200, 'The members.', MembersBody)
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  async list(@Param('partner') text: string): Promise<MembersBody> {
    const partner = partnerIdOf(text);
    const members = await this.members.list(partner);
    const invitations = await this.invitations.list(partner, PAGE_SIZE);
    const nowMs = this.clock.nowMs();
    return { members, invitations: invitations.map((one) => invitationBody(one, nowMs)) };
  }
}

function invitationBody(invitation: Invitation, nowMs: number): InvitationBody {
  const { id, note, invitedBy, createdAt, expiresAt, acceptedBy } = invitation;
  const state = invitationState(invitation, nowMs);
  return { id: id.toString(), state, note, invitedBy, createdAt, expiresAt, acceptedBy };
}
