import {
  Body,
  Controller,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  UseInterceptors,
} from '@nestjs/common';
import { ApiParam, ApiSchema } from '@nestjs/swagger';
import { Database, type Invitation, InvitationStore, MemberStore } from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import {
  INVITATION_STATES,
  invitationState,
  invitePartner,
  removeMember,
  withdrawInvitation,
} from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import {
  type ConsoleOperator,
  CurrentOperator,
  ForOperators,
  FreshSignIn,
} from '../../auth/audience.js';
import { ConsoleSettings } from '../../console.env.js';
import * as Input from '../../http/inputs.js';
import { REFUSALS } from '../refusals.js';
import { PAGE_SIZE } from '../schema.js';
import { InvitationDto, MemberDto, PARTNER_ID, partnerIdOf } from './partner.requests.js';

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
@ForOperators('admin')
@UseInterceptors(REFUSALS)
export class MembersController {
  constructor(
    private readonly database: Database,
    private readonly members: MemberStore,
    private readonly invitations: InvitationStore,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('members')
  @ForOperators('viewer')
  @Operation('Its members', 'And the newest 50 invitations.')
  @Answers(200, 'The members.', MembersBody)
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  async list(@Param('partner') text: string): Promise<MembersBody> {
    const partner = partnerIdOf(text);
    const members = await this.members.list(partner);
    const invitations = await this.invitations.list(partner, { limit: PAGE_SIZE });
    const nowMs = this.clock.nowMs();
    return { members, invitations: invitations.map((one) => invitationBody(one, nowMs)) };
  }

  @Post('invitations')
  @HttpCode(201)
  @FreshSignIn()
  @Operation(
    'Invite a person',
    'By a link that no other answer shows again: it makes one person a member.',
  )
  @Answers(201, 'The link.', InvitedBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  async invite(
    @Param('partner') text: string,
    @Body() { note }: InvitationDto,
    @CurrentOperator() { actor, subject: inviter }: ConsoleOperator,
  ): Promise<InvitedBody> {
    const origin = this.settings.consoleOrigin;
    const wish = { partner: partnerIdOf(text), note, origin, inviter };
    const command = { actor, command: 'partner invite' };
    const { url, expiresAt } = await invitePartner(this.database, this.clock, command, wish);
    return { url, expiresAt };
  }

  @Post('invitations/:invitation/withdraw')
  @HttpCode(204)
  @Operation('Withdraw an invitation', 'One that is still open.')
  @ApiParam({ name: 'invitation', schema: Input.NUMBER_SCHEMA })
  @Answers(204, 'Its link is of no use any more.')
  @Fails(
    404,
    'There is no such partner, or no such invitation that is open.',
    'NOT_FOUND',
    'PARTNER_UNKNOWN',
  )
  async withdraw(
    @Param('partner') text: string,
    @Param('invitation') invitation: string,
    @CurrentOperator() { actor }: ConsoleOperator,
  ): Promise<void> {
    const isDone =
      Input.NUMBER_PATTERN.test(invitation) &&
      (await withdrawInvitation(
        this.database,
        this.clock,
        { actor, command: 'partner withdraw-invitation' },
        { partner: partnerIdOf(text), invitation: BigInt(invitation) },
      ));
    if (!isDone) throw new HttpProblem(404, 'There is no such invitation that is open.');
  }

  @Post('members/remove')
  @HttpCode(204)
  @FreshSignIn()
  @Operation('Remove a member', 'Ends the person’s sessions for it.')
  @Answers(204, 'No member any more.')
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'There is no such partner, or no such member.', 'NOT_FOUND', 'PARTNER_UNKNOWN')
  async remove(
    @Param('partner') text: string,
    @Body() { subject }: MemberDto,
    @CurrentOperator() { actor }: ConsoleOperator,
  ): Promise<void> {
    const command = { actor, command: 'partner remove-member' };
    const member = { partner: partnerIdOf(text), subject };
    const isDone = await removeMember(this.database, this.clock, command, member);
    if (!isDone) throw new HttpProblem(404, 'There is no such member.');
  }
}

function invitationBody(invitation: Invitation, nowMs: number): InvitationBody {
  const { id, note, invitedBy, createdAt, expiresAt, acceptedBy } = invitation;
  const state = invitationState(invitation, nowMs);
  return { id: id.toString(), state, note, invitedBy, createdAt, expiresAt, acceptedBy };
}
