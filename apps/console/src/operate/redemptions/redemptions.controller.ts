import { Controller, Get, Inject, Param, Query, UseInterceptors } from '@nestjs/common';
import { ApiExtraModels, ApiParam } from '@nestjs/swagger';
import {
  Database,
  type OpenKey,
  PartnerStore,
  PartnerUnknownError,
  type RedemptionPage,
  RedemptionPages,
  RedemptionStore,
} from '#libs/db';
import { parseAddress, parseUuidV7, type PartnerId, type UuidV7 } from '#libs/domain';
import { type SettingsSource } from '#libs/config';
import { Answers, Fails, Operation } from '#libs/openapi';
import { chainEvidence, isMoment, liveText, resolvePartner } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ApprovalBody } from '../../approvals/approval.dto.js';
import { type ConsoleOperator, CurrentOperator, ForOperators } from '../../auth/audience.js';
import { REFUSALS } from '../refusals.js';
import { PAGE_SIZE } from '../schema.js';
import { SETTINGS_SOURCE } from '../../console.env.js';
import { RedemptionView } from './redemption-view.js';
import {
  ConfirmationBody,
  EvidenceBody,
  listedBody,
  RedemptionBody,
  RedemptionsBody,
  unreadableBodies,
} from './redemption.bodies.js';
import { QUEUE_KEY, QueueQuery, RedemptionsQuery } from './redemption.requests.js';

/** Maximum number of partners that a refusal lists. */
const MOST_NAMED = 5;

const REDEMPTION_ID = {
  name: 'redemption',
  schema: { type: 'string', format: 'uuid' },
  description: 'Its id.',
} as const;

@Controller('api/operate/redemptions')
@ForOperators('viewer')
@UseInterceptors(REFUSALS)
@ApiExtraModels(ApprovalBody, ConfirmationBody)
export class RedemptionsController {
  constructor(
    private readonly pages: RedemptionPages,
    private readonly database: Database,
    private readonly partners: PartnerStore,
    private readonly store: RedemptionStore,
    private readonly view: RedemptionView,
    @Inject(SETTINGS_SOURCE) private readonly source: SettingsSource,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Operation('Search', 'Newest first, page by page.')
  @Answers(200, 'The redemptions.', RedemptionsBody)
  @Fails(
    400,
    'The request is malformed; `field` says where. Or several partners fit.',
    'BAD_REQUEST',
    'PARTNER_AMBIGUOUS',
  )
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  async search(@Query() query: RedemptionsQuery): Promise<RedemptionsBody> {
    const { id, state, partner, wallet, from, until, after } = query;
    const filter = {
      state,
      partner: partner === undefined ? undefined : await this.partnerId(partner),
      wallet: wallet === undefined ? undefined : parseAddress(wallet),
      idPrefix: id,
      fromMs: msOf(from),
      untilMs: msOf(until),
    };
    const key = after === undefined ? undefined : parseUuidV7(after);
    const page = await this.pages.newest(filter, { limit: PAGE_SIZE, after: key });
    return this.listed(page, page.next ?? null);
  }

  @Get('queue')
  @Operation('Those that are not finished', 'Needs attention first, then the longest in its state.')
  @Answers(200, 'The redemptions.', RedemptionsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async queue(@Query() { after }: QueueQuery): Promise<RedemptionsBody> {
    const page = await this.pages.open({ limit: PAGE_SIZE, after: openKey(after) });
    return this.listed(page, page.next === undefined ? null : keyText(page.next));
  }

  @Get(':redemption')
  @Operation('One redemption', 'Its timeline, what it waits for, and what may be done with it now.')
  @ApiParam(REDEMPTION_ID)
  @Answers(200, 'The redemption.', RedemptionBody)
  @Fails(404, 'There is no such redemption.', 'REDEMPTION_MISSING', 'NOT_FOUND')
  @Fails(409, 'It cannot be read.', 'REDEMPTION_UNREADABLE')
  show(
    @Param('redemption') id: string,
    @CurrentOperator() { subject }: ConsoleOperator,
  ): Promise<RedemptionBody> {
    return this.view.show(idOf(id), subject);
  }

  @Get(':redemption/evidence')
  @Operation('What the chain says now', 'By final blocks.')
  @ApiParam(REDEMPTION_ID)
  @Answers(200, 'The evidence.', EvidenceBody)
  @Fails(404, 'There is no such redemption.', 'NOT_FOUND')
  async evidence(@Param('redemption') text: string): Promise<EvidenceBody> {
    const stored = await this.store.get(idOf(text));
    if (stored === undefined) throw missing();
    const live = await chainEvidence(stored, this.source, this.clock);
    return { asked: live.asked, text: liveText(live) };
  }

  private async listed(
    page: RedemptionPage<unknown>,
    next: string | null,
  ): Promise<RedemptionsBody> {
    const names = await this.partners.names(page.found.map(({ redemption }) => redemption.partner));
    const items = page.found.map(({ redemption }) => listedBody(redemption, names));
    return { items, unreadable: unreadableBodies(page), next };
  }

  /**
   * Finds a partner by name or id, or by a part of a name that only one partner has.
   * @throws PartnerUnknownError; HttpProblem 400
   */
  private async partnerId(text: string): Promise<PartnerId> {
    try {
      return (await resolvePartner(this.database, text)).partnerId;
    } catch (error) {
      if (!(error instanceof PartnerUnknownError)) throw error;
    }
    const [only, ...others] = await this.partners.findByPart(text, MOST_NAMED);
    if (only === undefined) throw new PartnerUnknownError();
    if (others.length === 0) return only.partnerId;
    const names = [only, ...others].map(({ partnerName }) => `“${partnerName}”`).join(', ');
    throw new HttpProblem(
      400,
      `Several partners have this in their name: ${names}. Give more of one.`,
      {
        code: 'PARTNER_AMBIGUOUS',
        field: 'partner',
      },
    );
  }
}

/** @throws HttpProblem 404 */
function idOf(text: string): UuidV7 {
  const id = parseUuidV7(text);
  if (id === undefined) throw missing();
  return id;
}

function missing(): HttpProblem {
  return new HttpProblem(404, 'There is no such redemption.');
}

function msOf(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : Date.parse(moment);
}

function keyText({ needsPerson, stateSince, id }: OpenKey): string {
  return `${needsPerson}~${stateSince}~${id}`;
}

/** @throws HttpProblem 400 */
function openKey(text: string | undefined): OpenKey | undefined {
  if (text === undefined) return undefined;
  const [, needsPerson, stateSince = '', id = ''] = QUEUE_KEY.exec(text) ?? [];
  const parsed = parseUuidV7(id);
  if (parsed === undefined || !isMoment(momentOf(stateSince))) {
    throw HttpProblem.badRequest('after', 'after must be the end of a page.');
  }
  return { needsPerson: needsPerson === 'true', stateSince, id: parsed };
}

/** RFC 3339 from PostgreSQL's text of a time, in which the minutes of an offset may be missing. */
function momentOf(stateSince: string): string {
  return stateSince.replace(' ', 'T').replace(/[+-]\d\d$/, '$&:00');
}
