import { Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiExtraModels, ApiParam, ApiSchema } from '@nestjs/swagger';
import {
  Database,
  type OwnRedemption,
  type OwnRedemptionHistory,
  readOwnCalls,
  readOwnHistory,
  readOwnRedemptions,
  MemberLimitStore,
} from '#libs/db';
import {
  PermanentError,
  REDEMPTION_STATES,
  type RedemptionState,
  tokensText,
  type UuidV7,
} from '#libs/domain';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { prepared, ReplayConfirmation } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { type ConsoleMember, CurrentMember, ForPartners } from '../auth/audience.js';
import { MemberLimit } from '../auth/member-limits.js';
import * as Input from '../http/inputs.js';
import { Secrets } from '../secrets.module.js';
import { CALL_MODELS, CallBody, callBody, CallsBody, CallsQuery } from './calls.dto.js';
import { memberActor, OwnRows } from './own-rows.js';
import { BeforeUuid, lastOf, PAGE_SIZE, timesOf, WalletFilter } from './page.dto.js';

export class RedemptionsQuery extends WalletFilter {
  @Input.Optional() @BeforeUuid() readonly before?: string;

  @Input.Optional()
  @Input.OneOf(REDEMPTION_STATES, 'be a state of a redemption')
  readonly state?: RedemptionState;
}

@ApiSchema({ name: 'OwnRedemption' })
export class RedemptionBody {
  @Field.Uuid() readonly id!: string;
  @Field.Text() readonly wallet!: string;
  @Field.Text() readonly points!: string;
  @Field.Text() readonly usdAmount!: string;
  @Field.Text('In the token’s smallest unit.') readonly tokenAmount!: string;
  @Field.Whole() readonly tokenDecimals!: number;
  @Field.Text('Whole tokens, a decimal number.') readonly tokens!: string;
  @Field.OneOf(REDEMPTION_STATES) readonly state!: RedemptionState;
  @Field.TextOrNull() readonly reason!: string | null;
  @Field.TextOrNull() readonly partnerTransactionId!: string | null;
  @Field.TextOrNull() readonly partnerRevertId!: string | null;
  @Field.TextOrNull() readonly paidTransactionHash!: string | null;
  @Field.Time() readonly createdAt!: Date;
  @Field.Time() readonly stateSince!: Date;
}

@ApiSchema({ name: 'OwnRedemptions' })
export class RedemptionsBody {
  @Field.ListOf(RedemptionBody, 'Newest first.') readonly redemptions!: RedemptionBody[];
  @Field.TextOrNull('`before` of the next page; null on the last.') readonly next!: string | null;
}

@ApiSchema({ name: 'OwnTransition' })
export class TransitionBody {
  @Field.Text() readonly event!: string;
  @Field.OneOfOrNull(REDEMPTION_STATES) readonly from!: RedemptionState | null;
  @Field.OneOf(REDEMPTION_STATES) readonly to!: RedemptionState;
  @Field.TextOrNull() readonly reason!: string | null;
  @Field.Text('Who: the kind, no name.') readonly actor!: string;
  @Field.Time() readonly at!: Date;
}

@ApiSchema({ name: 'OwnConfirmation' })
export class ConfirmationBody {
  @Field.Text('The body that is sent, byte for byte.') readonly payload!: string;
  @Field.OneOf(['pending', 'delivered', 'undelivered']) readonly state!: string;
  @Field.Whole() readonly attempts!: number;
  @Field.TimeOrNull() readonly nextActionAt!: Date | null;
  @Field.TimeOrNull() readonly deliveredAt!: Date | null;
  @Field.TimeOrNull() readonly undeliveredAt!: Date | null;
}

@ApiSchema({ name: 'OwnRedemptionHistory' })
export class HistoryBody {
  @Field.Nested(RedemptionBody) readonly redemption!: RedemptionBody;
  @Field.ListOf(TransitionBody, 'Oldest first.') readonly transitions!: readonly TransitionBody[];
  @Field.ListOf(CallBody, 'Oldest first.') readonly calls!: CallBody[];
  @Field.NestedOrNull(ConfirmationBody) readonly confirmation!: ConfirmationBody | null;
}

/** Limit on sending the confirmation of one redemption again. */
const ONCE_A_MINUTE = { everyMs: 60_000, burst: 1 };
const ID = { name: 'id', schema: { type: 'string', format: 'uuid' } } as const;

/** The partner's redemptions, and our calls to the partner. */
@Controller('api/partner')
@ForPartners()
@ApiExtraModels(ConfirmationBody, ...CALL_MODELS)
export class OwnRedemptionsController {
  constructor(
    private readonly rows: OwnRows,
    private readonly database: Database,
    private readonly limits: MemberLimitStore,
    private readonly secrets: Secrets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('redemptions')
  @Operation('Redemptions', 'Newest first, 50 a page.')
  @Answers(200, 'A page.', RedemptionsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async list(
    @Query() { before, state, wallet, ...times }: RedemptionsQuery,
    @CurrentMember() member: ConsoleMember,
  ): Promise<RedemptionsBody> {
    const page = {
      ...{ limit: PAGE_SIZE, before: before as UuidV7 | undefined, state },
      ...{ wallet: wallet?.toLowerCase(), ...timesOf(times) },
    };
    const found = await this.rows.read(member, (query) => readOwnRedemptions(query, page));
    return { redemptions: found.map(redemptionBody), next: lastOf(found)?.id ?? null };
  }

  @Get('redemptions/:id')
  @Operation('One redemption', 'With its transitions, our calls, and its confirmation.')
  @ApiParam(ID)
  @Answers(200, 'The redemption.', HistoryBody)
  @Fails(404, 'You have none with this id.', 'NOT_FOUND')
  async show(
    @Param('id') id: string,
    @CurrentMember() member: ConsoleMember,
  ): Promise<HistoryBody> {
    return historyBody(await this.find(member, id));
  }

  @Post('redemptions/:id/confirmation')
  @HttpCode(204)
  @MemberLimit('SEND')
  @Operation(
    'Send the confirmation again',
    'The same bytes, at once; once a minute for a redemption.',
  )
  @ApiParam(ID)
  @Answers(204, 'It is on its way.')
  @Fails(404, 'You have no redemption with this id.', 'NOT_FOUND')
  @Fails(409, 'None is owed, or it is still being sent.', 'NO_CONFIRMATION', 'STILL_TRYING')
  async confirmAgain(
    @Param('id') text: string,
    @CurrentMember() member: ConsoleMember,
  ): Promise<void> {
    const { redemption } = await this.find(member, text);
    const { id } = redemption;
    const key = `confirmation:${id}`;
    const seconds = await this.limits.take([{ key, ...ONCE_A_MINUTE }], this.clock.nowMs());
    if (seconds > 0) throw HttpProblem.tooManyRequests(seconds);
    const { database, clock, secrets } = this;
    const context = { database, clock, actor: memberActor(member), keyRing: () => secrets.keyRing };
    try {
      await prepared(ReplayConfirmation, { id }).perform(context);
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      throw new HttpProblem(409, REFUSALS[error.code] ?? error.message, { code: error.code });
    }
  }

  @Get('calls')
  @Operation(
    'Our calls to the partner',
    'With what was asked, what came back and what was thought of it; 50 a page.',
  )
  @Answers(200, 'A page.', CallsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async calls(
    @Query() { before, step, outcome, which, ...times }: CallsQuery,
    @CurrentMember() member: ConsoleMember,
  ): Promise<CallsBody> {
    const page = {
      ...{ limit: PAGE_SIZE, before: before as UuidV7 | undefined, step, outcome },
      ...{ failedOnly: which === 'failed', ...timesOf(times) },
    };
    const found = await this.rows.read(member, (query) => readOwnCalls(query, page));
    return { calls: found.map(callBody), next: lastOf(found)?.requestId ?? null };
  }

  private find(member: ConsoleMember, id: string) {
    return this.rows.readOne(member, 'redemption', (query) =>
      Input.UUID_PATTERN.test(id)
        ? readOwnHistory(query, id as UuidV7)
        : Promise.resolve(undefined),
    );
  }
}

/** Messages for partners, who have no command line. They replace the operation's own. */
const REFUSALS: Readonly<Record<string, string>> = {
  NO_CONFIRMATION:
    'No confirmation is owed: the redemption is not claimed or reverted, or you took none when it ended.',
  STILL_TRYING: 'The confirmation is still being sent; its attempts are in the list of calls.',
};

function redemptionBody(one: OwnRedemption): RedemptionBody {
  return { ...one, tokens: tokensText(BigInt(one.tokenAmount), one.tokenDecimals) };
}

function historyBody(history: OwnRedemptionHistory): HistoryBody {
  const { redemption, transitions, calls, confirmation = null } = history;
  return {
    redemption: redemptionBody(redemption),
    transitions,
    calls: calls.map(callBody),
    confirmation,
  };
}
