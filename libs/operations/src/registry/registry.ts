/** The publication of sealed days on chain, as operators see it. */
import {
  type Database,
  NoSuchPublicationError,
  type Publication,
  type PublicationStatus,
  type PublicationSummary,
  PublicationViews,
  type RegistryPlace,
} from '#libs/db';
import { dayText, type NodeHash, parseDay } from '#libs/domain';
import { audited } from '../audit/audited.js';
import { OptionError } from '../operation.error.js';
import { Field } from '../operation/field.js';
import { Operation, type OperationContext, operatorOf } from '../operation/operation.js';
import { keptNote, NOTE, STAKE_SET } from '../operation/page-fields.js';

export interface PublicationLine {
  /** A UTC day, for example `2026-01-31`. */
  readonly day: string;
  readonly status: PublicationStatus;
  readonly root: NodeHash;
  /** The transaction that was signed last for the publication. */
  readonly transactionHash: string | null;
  readonly nonce: number | null;
  readonly reason: string | null;
  readonly acknowledged: boolean;
}

export interface RegistryStatus extends Omit<PublicationSummary, 'lastDay'>, RegistryPlace {
  readonly lastDay: string | null;
  /** Days that were sealed again after publication, without the acknowledged ones. */
  readonly revisedDays: readonly string[];
  /** Newest first. */
  readonly publications: readonly PublicationLine[];
}

/** @param database of the stake set */
export async function registryStatus(
  database: Database,
  place: RegistryPlace,
  limit: number,
): Promise<RegistryStatus> {
  const views = new PublicationViews(database, place);
  const { lastDay, ...summary } = await views.summary();
  const revised = await views.revised();
  return {
    ...place,
    ...summary,
    lastDay: lastDay === null ? null : dayText(lastDay),
    revisedDays: revised.map(dayText),
    publications: (await views.page(limit)).map(lineOf),
  };
}

/**
 * Notes that an operator has looked into a day whose root on chain differs from that of the service, so that the day
 * raises no alert any more.
 */
export class AcknowledgePublication extends Operation<void> {
  static readonly spec = {
    command: 'registry acknowledge',
    description:
      'end the alert of a day of which the registry holds another root; nothing changes on chain',
    needs: 'registry',
  } as const;

  @Field({
    type: 'text',
    help: 'as 2026-01-31',
    argument: '<day>',
    expected: 'a day such as 2026-01-31',
    isRight: (text) => parseDay(text) !== undefined,
  })
  readonly day!: string;

  @Field(NOTE) readonly note!: string;
  @Field(STAKE_SET) readonly stakeSet?: string;

  /** @throws OptionError if the stake set has no registry, NoSuchPublicationError */
  perform(context: OperationContext): Promise<void> {
    const { database, clock } = context;
    const place = context.registry?.();
    const day = parseDay(this.day);
    if (place === undefined || day === undefined) {
      throw new OptionError('A day and a registry are needed.');
    }
    const operator = operatorOf(this, context);
    const note = keptNote(this.note) ?? '';
    const given = { day: dayText(day), registry: place.registry, note };
    return audited(database, { ...operator, arguments: given }, {}, async () => {
      const views = new PublicationViews(database, place);
      const request = { day, note, ...operator, arguments: given, nowMs: clock.nowMs() };
      if (!(await views.acknowledge(request))) throw new NoSuchPublicationError(dayText(day));
    });
  }

  override outcomeOf(): string {
    return 'Acknowledged. What comes out differently later is an alert again.';
  }
}

function lineOf(publication: Publication): PublicationLine {
  const { day, status, root, reason, transaction, sender, acknowledgedAt } = publication;
  return {
    ...{ day: dayText(day), status, root, reason, acknowledged: acknowledgedAt !== null },
    transactionHash: transaction?.hash ?? null,
    nonce: sender?.nonce ?? null,
  };
}
