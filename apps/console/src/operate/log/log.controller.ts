import { Controller, Get, Query, UseInterceptors } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { AuditLog, Database, PartnerStore, PartnerUnknownError } from '#libs/db';
import { parseUuidV7, type PartnerId } from '#libs/domain';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { resolvePartner } from '#libs/operations';
import { ForOperators } from '../../auth/audience.js';
import * as Input from '../../http/inputs.js';
import { REFUSALS } from '../refusals.js';
import { AfterNumber, NamedPartner, namedPartner, PAGE_SIZE } from '../schema.js';

const ACTOR = 'operator:';

class LogQuery {
  @Input.Optional()
  @Input.Matching(
    /^(?:operator:)?[A-Za-z0-9._@+-]{1,64}$/,
    'be the name of an operator, given once',
    { description: 'With or without `operator:`.' },
  )
  readonly actor?: string;

  @Input.Optional()
  @Input.Matching(/^[^\p{Cc}\p{Cs}]{1,255}$/u, 'be the name or the id of a partner, given once', {
    description: 'Its name or id.',
  })
  readonly partner?: string;

  @Input.Optional()
  @Input.Matching(
    /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
    'be the id of a redemption, given once',
    { description: 'Its id.' },
  )
  readonly redemption?: string;

  @Input.Optional()
  @Input.Matching(
    /^[a-z-]{1,40}(?: [a-z-]{1,40}){0,3}$/,
    'be a command, such as partner set, given once',
    { description: '`partner set`' },
  )
  readonly command?: string;

  @Input.Optional()
  @Input.OneOf(['show', 'hide'], 'be show or hide', {
    description: 'What members of partners did. Default: show.',
  })
  readonly members?: 'show' | 'hide';

  @AfterNumber() readonly after?: string;
}

@ApiSchema({ name: 'LogEntry' })
class LogEntryBody {
  @Field.Text() readonly id!: string;
  @Field.Time() readonly at!: Date;
  @Field.Text() readonly actor!: string;
  @Field.Text() readonly command!: string;
  @Field.TextOrNull() readonly redemption!: string | null;
  @Field.NestedOrNull(NamedPartner) readonly partner!: NamedPartner | null;
  @Field.Json() readonly arguments!: object;
  @Field.Text() readonly outcome!: string;
}

@ApiSchema({ name: 'Log' })
class LogBody {
  @Field.ListOf(LogEntryBody) readonly items!: LogEntryBody[];
  @Field.Next() readonly next!: string | null;
}

/** The audit log: what operators did by command or on the pages, including what was refused. */
@Controller('api/operate/log')
@ForOperators('viewer')
@UseInterceptors(REFUSALS)
export class LogController {
  constructor(
    private readonly database: Database,
    private readonly partners: PartnerStore,
  ) {}

  @Get()
  @Operation('Who did what', 'Newest first.')
  @Answers(200, 'A page of it.', LogBody)
  @Fails(
    400,
    'The request is malformed; `field` says where. Or it names two partners.',
    'BAD_REQUEST',
    'PARTNER_AMBIGUOUS',
  )
  async list(
    @Query() { actor, partner, redemption, command, members, after }: LogQuery,
  ): Promise<LogBody> {
    const partnerId = partner === undefined ? undefined : await this.partnerId(partner);
    const redemptionId =
      redemption === undefined ? undefined : parseUuidV7(redemption.toLowerCase());
    const isNone =
      (partner !== undefined && partnerId === undefined) ||
      (redemption !== undefined && redemptionId === undefined);
    if (isNone) return { items: [], next: null };
    const filter = {
      actor: actor === undefined || actor.startsWith(ACTOR) ? actor : `${ACTOR}${actor}`,
      partner: partnerId,
      ...{ redemptionId, command, withoutMembers: members === 'hide' },
    };
    const page = { limit: PAGE_SIZE, after };
    const { entries, next } = await new AuditLog(this.database).newest(filter, page);
    const names = await this.partners.names(entries.flatMap((entry) => entry.partner ?? []));
    const items = entries.map(({ redemptionId: redemptionOf, partner: partnerOf, ...entry }) => ({
      ...{ ...entry, redemption: redemptionOf },
      partner: partnerOf === null ? null : namedPartner(names, partnerOf),
    }));
    return { items, next: next ?? null };
  }

  /** @returns undefined if there is no such partner @throws PartnerAmbiguousError */
  private async partnerId(reference: string): Promise<PartnerId | undefined> {
    try {
      return (await resolvePartner(this.database, reference)).partnerId;
    } catch (error) {
      if (error instanceof PartnerUnknownError) return undefined;
      throw error;
    }
  }
}
