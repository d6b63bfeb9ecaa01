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
import { dayText, type NodeHash } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { audited, type Operator } from '../audit/audited.js';

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
 * Notes that a person has looked into a day whose root on chain differs from that of the service, so that the day
 * raises no alert any more.
 * @param database of the stake set
 * @throws NoSuchPublicationError
 */
export function acknowledgePublication(
  { database, clock, operator }: { database: Database; clock: Clock; operator: Operator },
  place: RegistryPlace,
  { day, note }: { readonly day: number; readonly note: string },
): Promise<void> {
  const given = { day: dayText(day), registry: place.registry, note };
  return audited(database, { ...operator, arguments: given }, {}, async () => {
    const views = new PublicationViews(database, place);
    const request = { day, note, ...operator, arguments: given, nowMs: clock.nowMs() };
    if (!(await views.acknowledge(request))) throw new NoSuchPublicationError(dayText(day));
  });
}

function lineOf(publication: Publication): PublicationLine {
  const { day, status, root, reason, transaction, sender, acknowledgedAt } = publication;
  return {
    ...{ day: dayText(day), status, root, reason, acknowledged: acknowledgedAt !== null },
    transactionHash: transaction?.hash ?? null,
    nonce: sender?.nonce ?? null,
  };
}
