import { Body, Controller, Get, HttpCode, Inject, Post, UseInterceptors } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { Database, MemberStore, readOwn, RedemptionViews } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { Answers, Fails, Operation } from '#libs/openapi';
import { audited, replaceCredential, revokeCredential } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { type ConsoleMember, CurrentMember, ForPartners, FreshSignIn } from '../auth/audience.js';
import { ConsoleSettings } from '../console.env.js';
import { Secrets } from '../secrets.module.js';
import { memberActor, OwnRows } from './own-rows.js';
import { REFUSALS } from './refusals.js';
import {
  CallbackBody,
  IssuedBody,
  MemberChoice,
  RevocationDto,
  RevokedBody,
  RotationDto,
  standingBody,
  StandingBody,
} from './standing.dto.js';

/** How a partner is set up: its credentials, callback, limits and members. */
@Controller('api/partner')
@ForPartners()
@UseInterceptors(REFUSALS)
@ApiExtraModels(CallbackBody)
export class StandingController {
  constructor(
    private readonly rows: OwnRows,
    private readonly secrets: Secrets,
    private readonly members: MemberStore,
    private readonly database: Database,
    private readonly views: RedemptionViews,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('standing')
  @Operation('How the partner is set up', 'Credentials, callback, limits and members; no secret.')
  @Answers(200, 'The partner.', StandingBody)
  async standing(@CurrentMember() member: ConsoleMember): Promise<StandingBody> {
    const { apiUrl, publicApiUrl = apiUrl } = this.settings;
    const own = await this.rows.readOne(member, 'partner', readOwn);
    return standingBody(own, publicApiUrl, this.clock.nowMs());
  }

  @Post('credentials/rotate')
  @HttpCode(200)
  @FreshSignIn()
  @Operation(
    'Replace a credential',
    'The new one is shown once; the old one works for the hours that are chosen.',
  )
  @Answers(200, 'The new credential.', IssuedBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No active credential begins so.', 'CREDENTIAL_MISSING')
  @Fails(409, 'Several begin so, or too many work.', 'CREDENTIAL_AMBIGUOUS', 'TOO_MANY_CREDENTIALS')
  async rotate(
    @Body() { keyPrefix, overlapHours }: RotationDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<IssuedBody> {
    const { keyRing } = this.secrets;
    const operator = { actor: memberActor(member), command: 'partner rotate' };
    const given = { partner: member.partnerId, keyPrefix, overlapHours };
    const made = await replaceCredential(this.database, operator, given, keyRing);
    const { apiKey, sharedSecret } = made.issued;
    return { apiKey, sharedSecret, replaced: made.replaced, goodUntil: made.goodUntil };
  }

  @Post('credentials/revoke')
  @HttpCode(200)
  @FreshSignIn()
  @Operation(
    'Revoke a credential',
    'Within seconds it works no more. The last one that lasts needs `force`.',
  )
  @Answers(200, 'It is revoked.', RevokedBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No active credential begins so.', 'CREDENTIAL_MISSING')
  @Fails(409, 'Several begin so, or it is the last.', 'CREDENTIAL_AMBIGUOUS', 'LAST_CREDENTIAL')
  async revoke(
    @Body() { keyPrefix, force = false }: RevocationDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<RevokedBody> {
    const operator = { actor: memberActor(member), command: 'partner revoke' };
    const given = { partner: member.partnerId, keyPrefix, force };
    const { left } = await revokeCredential(this.database, operator, given);
    return { left };
  }

  @Post('members/withdraw')
  @HttpCode(204)
  @FreshSignIn()
  @Operation(
    'Withdraw a member’s access',
    'One’s own, too. The sessions of that member end at once.',
  )
  @Answers(204, 'That person is no member any more.')
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'There is no such member.', 'MEMBER_MISSING')
  @Fails(409, 'No member would be left.', 'LAST_MEMBER')
  async withdraw(
    @Body() { subject }: MemberChoice,
    @CurrentMember() member: ConsoleMember,
  ): Promise<void> {
    const { partnerId: partner } = member;
    const note = { command: 'partner withdraw', arguments: { subject } };
    const actor = memberActor(member);
    await audited(this.database, { actor, ...note }, { partner }, async () => {
      const all = await this.members.list(partner);
      if (!all.some((one) => one.subject === subject)) {
        throw new PermanentError('MEMBER_MISSING', 'There is no such member.');
      }
      if (all.length === 1) {
        const message = 'You are the last member. Your operator can end the access of all.';
        throw new PermanentError('LAST_MEMBER', message);
      }
      await this.members.remove(partner, subject, this.clock.nowMs());
      await this.views.audit(actor, { ...note, outcome: 'done' }, { partner });
    });
  }
}
